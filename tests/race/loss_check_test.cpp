// SPDX-License-Identifier: MIT
#include "race/checks_fixture.hpp"
#include "race/judgement/judge.hpp"

namespace joust::race {
namespace {

class LossCheck : public Checks {
 protected:
  // Every contestant's messages may be lost; of `loser` this many are, in the trial of one round.
  void lose(const std::string& loser, std::uint64_t messages) {
    runner.alter = [=](const TrialOrder& order, std::size_t nth, Trial& trial) {
      make_lossy(trial, order.entry.contestant.name == loser && nth == 2 ? messages : 0);
    };
  }
};

TEST_F(LossCheck, AContestantThatLostMessagesIsNotRanked) {
  lose("epoll", 2040);  // of 680,000
  const CheckResult found = check(13);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_FALSE(entry(judged, "epoll").ranked);
  EXPECT_EQ(entry(judged, "epoll").reason, "lost 0.3 % of its messages");
  EXPECT_TRUE(entry(judged, "threads").ranked);
  EXPECT_TRUE(entry(judged, "epoll").summary.throughput_per_s.has_value()) << "its figures are shown";
  EXPECT_TRUE(has(judged.cases.front().verdict, "epoll is not ranked (lost 0.3 % of its messages)"))
      << judged.cases.front().verdict;
  EXPECT_EQ(exit_code(judged), 3);
}

TEST_F(LossCheck, WithoutLossAllAreRanked) {
  lose("nobody", 0);
  EXPECT_EQ(check(13).verdict, Verdict::pass);
  EXPECT_TRUE(entry(judged, "epoll").ranked);
}

TEST_F(LossCheck, IsNotAskedWhereNothingCanBeLost) {
  check(12);
  for (const CheckResult& each : judged.cases.front().checks) EXPECT_NE(each.id, 13);
}

TEST_F(LossCheck, TheLossOfTheReferencesSecondEntryIsTheReferences) {
  lose("threads (again)", 5);
  EXPECT_EQ(check(13).verdict, Verdict::refuse);
  EXPECT_FALSE(entry(judged, "threads").ranked);
}

TEST_F(LossCheck, WhoLostEverythingIsRankedNowhere) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { make_lossy(trial, 10); };
  EXPECT_EQ(check(13).verdict, Verdict::refuse);
  for (const char* name : {"threads", "epoll", "io-uring"}) EXPECT_FALSE(entry(judged, name).ranked) << name;
  EXPECT_EQ(exit_code(judged), 3);
}

TEST_F(LossCheck, DeliveriesOfARoomCountWhereThereAreAny) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    make_lossy(trial, 0);
    const bool loses = order.entry.contestant.name == "epoll";
    trial.load->groups = {deliveries({{"expected", 1000},
                                      {"received", loses ? 874 : 1000},
                                      {"lost", loses ? 126 : 0},
                                      {"duplicated", 3},
                                      {"out_of_order", 5}})};
  };
  check(13);
  EXPECT_EQ(entry(judged, "epoll").reason, "lost 13 % of its messages");
  EXPECT_TRUE(entry(judged, "threads").ranked) << "messages that came again or late are no fault there";
}

TEST_F(LossCheck, WhatIsLostBalancesTheBooksAndItsBytesAreNotMissed) {
  lose("epoll", 2040);
  EXPECT_EQ(check(12).verdict, Verdict::pass);
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    make_lossy(trial, 7);
    if (order.entry.contestant.name == "epoll") trial.load->messages.lost = 6;
  };
  EXPECT_EQ(check(12).verdict, Verdict::refuse);
  EXPECT_TRUE(has(entry(judged, "epoll").reason, " + lost 6 + in flight ")) << entry(judged, "epoll").reason;
}

TEST_F(LossCheck, SocketsOfDifferentKindsAreNotCompared) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.entry.contestant.name == "epoll")
      trial.client.socket = trial.server.socket = {{"receive_buffer", "425984"}};
  };
  EXPECT_EQ(check(10).verdict, Verdict::pass);
}

TEST(LossWords, HaveTwoDigitsThatSaySomething) {
  EXPECT_EQ(share_words({.lost = 0, .of = 100}), "0 %");
  EXPECT_EQ(share_words({.lost = 3, .of = 1000}), "0.3 %");
  EXPECT_EQ(share_words({.lost = 126, .of = 1000}), "13 %");
  EXPECT_EQ(share_words({.lost = 100, .of = 100}), "100 %");
  EXPECT_EQ(share_words({.lost = 1, .of = 9'000'000}), "0.000011 %");
  EXPECT_EQ(share_words({.lost = 0, .of = 0}), "0 %");
}

}  // namespace
}  // namespace joust::race

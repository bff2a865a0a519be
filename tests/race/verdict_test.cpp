// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/figures/summary.hpp"
#include "race/judgement/judge.hpp"
#include "race/judgement/verdict.hpp"
#include "race/run/race.hpp"

namespace joust::race {
namespace {

class VerdictWords : public testing::Test {
 protected:
  RaceResult judged() {
    RaceResult result = run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, stop);
    judge(result);
    return result;
  }
  std::string verdict() { return judged().cases.front().verdict; }

  Scenario scenario = fake_scenario({"epoll", "threads", "io-uring"}, 10);
  FakeRunner runner;
  RaceObserver observer;
  Stop stop;
};

TEST_F(VerdictWords, SayRatiosAndTies) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 105e3}};
  const std::string text = verdict();
  EXPECT_TRUE(text.starts_with("io-uring is 1.50x epoll (1.")) << text;
  EXPECT_TRUE(
      text.ends_with("; a message costs io-uring 0.666x (0.664 to 0.669) the server CPU time of epoll."))
      << text;
  EXPECT_TRUE(text.find("; epoll and threads cannot be told apart here (differences below 2.0 %") !=
                  std::string::npos ||
              text.find("; threads and epoll cannot be told apart here (differences below 2.0 %") !=
                  std::string::npos)
      << text;
}

TEST_F(VerdictWords, QuoteNamesWithCommasAmongOthers) {
  scenario.contestants[1].name = "threads, two";
  runner.throughput = {{"epoll", 70e3}, {"threads, two", 70e3}, {"io-uring", 105e3}};
  const std::string text = verdict();
  EXPECT_TRUE(text.find("; epoll and 'threads, two' cannot be told apart here (differences below 2.0 %") !=
                  std::string::npos ||
              text.find("; 'threads, two' and epoll cannot be told apart here (differences below 2.0 %") !=
                  std::string::npos)
      << text;
}

// The steps from one to the next are too small to tell, the one over two is not: ties are not transitive.
TEST_F(VerdictWords, SayNothingOfAPairThatCannotBeToldApart) {
  runner.throughput = {{"epoll", 70.3e3}, {"threads", 69.2e3}, {"io-uring", 71.3e3}};
  const std::string text = verdict();
  EXPECT_TRUE(
      text.starts_with("threads cannot be told from epoll (0.98x, 0.98 to 0.99; differences below 2.0 % are "
                       "not seen), and threads has place 2 "
                       "because another one of place 1 is ahead of it; "))
      << text;
}

// The other way round: the best ties with both, and these are told apart.
TEST_F(VerdictWords, SayWhoDiffersWithinAPlace) {
  runner.throughput = {{"epoll", 71.3e3}, {"threads", 69.2e3}, {"io-uring", 71.4e3}};
  RaceResult result = judged();
  CaseResult& one = result.cases.front();
  for (Entry& entry : one.entries)
    if (entry.is_contestant()) entry.tie_group = 1;
  const std::string text = verdict_of(result, one);
  EXPECT_TRUE(text.contains("threads is 0.97x epoll")) << text;
  EXPECT_TRUE(text.contains("io-uring and epoll cannot be told apart here")) << text;
}

TEST_F(VerdictWords, SayWhoIsMissingAndWhy) {
  scenario.contestants[1].server.engine = "broken";
  runner.throughput = {{"epoll", 70e3}, {"io-uring", 105e3}};
  EXPECT_NE(verdict().find("threads is not ranked (unavailable: io_uring_setup: Operation not permitted)"),
            std::string::npos);
}

TEST_F(VerdictWords, SayWhoIsTheReferenceInPlaceOfTheOneThatIsMissing) {
  scenario.contestants[1].server.engine = "broken";
  runner.throughput = {{"epoll", 70e3}, {"io-uring", 105e3}};
  EXPECT_EQ(verdict().find("the ratios are to"), std::string::npos) << verdict();
  scenario.reference = "threads";
  EXPECT_NE(verdict().find("Operation not permitted), so the ratios are to epoll."), std::string::npos)
      << verdict();
}

TEST_F(VerdictWords, OneRoundTellsNothing) {
  scenario.rounds = 1;
  runner.throughput = {{"epoll", 70e3}, {"threads", 35e3}, {"io-uring", 105e3}};
  const RaceResult result = judged();
  const CaseResult& one = result.cases.front();
  EXPECT_TRUE(one.verdict.starts_with("one round tells nothing of the contestants")) << one.verdict;
  EXPECT_EQ(one.verdict.find("told"), std::string::npos) << one.verdict;
  for (const Entry& entry : one.entries) {
    EXPECT_FALSE(entry.tie_group) << entry.contestant.name;
    EXPECT_FALSE(entry.cost_tie_group) << entry.contestant.name;
  }
  for (const CheckResult& check : one.checks) EXPECT_EQ(check.detail.find("tied"), std::string::npos);
}

TEST_F(VerdictWords, TooFewRoundsForTheirNoiseTellNothing) {
  scenario.rounds = 2;
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 70e3}};
  runner.wobble = {0.0, 8.0, 1.0, 15.0, 0.5, 4.0, 20.0};
  EXPECT_TRUE(verdict().starts_with("2 rounds do not tell who is faster")) << verdict();
}

TEST_F(VerdictWords, TellCostsWhereTheNoiseHidesTheRest) {
  scenario.rounds = 5;
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 70e3}};
  runner.wobble = {0.0, 8.0, 1.0, 15.0, 0.5, 4.0, 20.0};
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (!trial.server.usage) return;
    const double cost_us = order.entry.contestant.name == "io-uring" ? 0.1 : 0.2;
    trial.server.usage->user_s = cost_us * 1e-6 * static_cast<double>(trial.load->messages.verified);
    trial.server.usage->system_s = 0;
  };
  const std::string text = verdict();
  EXPECT_TRUE(text.starts_with("5 rounds do not tell who is faster")) << text;
  EXPECT_TRUE(text.find("; a message costs io-uring 0.500x (") != std::string::npos) << text;
}

// The client of these has all of its CPU in use, their server half.
class VerdictOfBounds : public VerdictWords {
 protected:
  VerdictOfBounds() { runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 105e3}}; }

  std::string limited(const std::vector<std::string>& names) {
    runner.alter = [=](const TrialOrder& order, std::size_t, Trial& trial) {
      const std::string& name = order.entry.contestant.name;
      if (std::ranges::count(names, name.substr(0, name.find(kAgain))) == 0) return;
      trial.load->usage.user_s = 0.4, trial.load->usage.system_s = 0.59;
      trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.4;
    };
    return verdict();
  }
};

TEST_F(VerdictOfBounds, ABoundAboveAFigureIsFaster) {
  const std::string text = limited({"io-uring"});
  EXPECT_TRUE(text.starts_with("io-uring is at least 1.50x epoll (1.")) << text;
  EXPECT_NE(text.find("; the client was the limit of io-uring, so throughput is only a lower bound there; by "
                      "the server's CPU time per message the order is io-uring, then "),
            std::string::npos)
      << text;
}

TEST_F(VerdictOfBounds, ABoundBelowAFigureProvesNothing) {
  runner.throughput["io-uring"] = 40e3;
  const std::string text = limited({"io-uring"});
  EXPECT_EQ(text.find("least"), std::string::npos) << text;
  EXPECT_EQ(text.find("io-uring is"), std::string::npos) << text;
  EXPECT_NE(text.find("the client was the limit of io-uring"), std::string::npos) << text;
}

TEST_F(VerdictOfBounds, AFigureIsSlowerThanABoundOrNotComparedWithIt) {
  EXPECT_EQ(limited({"epoll"}).find("io-uring is"), std::string::npos) << limited({"epoll"});
  runner.throughput["io-uring"] = 40e3;
  EXPECT_TRUE(limited({"epoll"}).starts_with("io-uring is at most 0.57x epoll")) << limited({"epoll"});
}

TEST_F(VerdictOfBounds, WhereAllAreBoundsCostSpeaks) {
  const std::string text = limited({"epoll", "io-uring", "threads"});
  EXPECT_TRUE(
      text.starts_with("the client was the limit of epoll, threads and io-uring, so throughput gives no "
                       "ranks; by the server's CPU time per message the order is io-uring, then "))
      << text;
  EXPECT_TRUE(text.ends_with(
      "(not told apart); a message costs io-uring 0.666x (0.664 to 0.669) the server CPU time of epoll."))
      << text;
}

TEST_F(VerdictOfBounds, EqualCostsHaveNoOrder) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 70e3}};
  EXPECT_TRUE(limited({"epoll", "io-uring", "threads"})
                  .ends_with("so throughput gives no ranks; nor are their costs told apart."));
}

TEST_F(VerdictOfBounds, ALoneBoundSaysSo) {
  scenario = fake_scenario({"epoll"}, 10);
  EXPECT_TRUE(limited({"epoll"}).starts_with("epoll answers at least 70.")) << limited({"epoll"});
}

TEST_F(VerdictWords, NothingIsComparedWithAReferenceThatIsNotRanked) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 105e3}};
  RaceResult result = judged();
  for (Entry& entry : result.cases.front().entries)
    if (entry.contestant.name == "epoll") entry.ranked = false, entry.reason = "planted";
  const std::string text = verdict_of(result, result.cases.front());
  EXPECT_EQ(text.find("x epoll"), std::string::npos) << text;
  EXPECT_NE(text.find("epoll is not ranked (planted)"), std::string::npos) << text;
}

TEST_F(VerdictWords, AnInvalidMeasurementHasNoWinner) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { trial.client.build.type = "Debug"; };
  const std::string text = verdict();
  EXPECT_TRUE(text.starts_with("Invalid, compare nothing here: a Debug build")) << text;
  EXPECT_EQ(text.find("x epoll"), std::string::npos) << text;
}

TEST_F(VerdictWords, ALoneContestantHasItsFigure) {
  scenario = fake_scenario({"epoll"}, 10);
  runner.throughput = {{"epoll", 70e3}};
  EXPECT_TRUE(verdict().starts_with("epoll answers 70.")) << verdict();
}

class OpenLoopVerdict : public VerdictWords {
 protected:
  // In an open loop a fake's throughput is its capacity: the latency is the shorter the greater it is.
  OpenLoopVerdict() {
    scenario.cases.front().load.rate_per_s = 5000;
    runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 105e3}};
  }
};

TEST_F(OpenLoopVerdict, RanksByLatency) {
  const RaceResult result = judged();
  const CaseResult& one = result.cases.front();
  EXPECT_EQ(find_entry(one, "io-uring")->tie_group, 1);
  EXPECT_EQ(find_entry(one, "epoll")->tie_group, 2);
  EXPECT_EQ(find_entry(one, "threads")->tie_group, 2);
  EXPECT_FALSE(find_entry(one, "io-uring")->summary.ratio) << "throughput is given";
  EXPECT_FALSE(find_entry(one, "io-uring")->at_least);
  const std::string& text = one.verdict;
  EXPECT_TRUE(
      text.starts_with("At 5,000 messages/s: the p99 latency of io-uring is 0.67x that of epoll (0.6"))
      << text;
  EXPECT_NE(text.find("and epoll cannot be told apart here") == std::string::npos,
            text.find("and threads cannot be told apart here") == std::string::npos)
      << text;
}

TEST_F(OpenLoopVerdict, MeasuresNoCeiling) {
  const RaceResult result = judged();
  EXPECT_TRUE(std::ranges::none_of(result.cases.front().entries,
                                   [](const Entry& entry) { return entry.kind == EntryKind::ceiling; }));
  const CheckResult& headroom = result.cases.front().checks.front();
  EXPECT_EQ(headroom.id, 1);
  EXPECT_EQ(headroom.verdict, Verdict::pass) << headroom.detail;
}

TEST_F(OpenLoopVerdict, ALoneContestantHasItsPercentile) {
  scenario.contestants.resize(1);
  EXPECT_TRUE(verdict().starts_with("At 5,000 messages/s: epoll answers 99 % within 7.3")) << verdict();
}

void keep_samples(Trial& trial, std::uint64_t samples) {
  trial.load->latency = usual_latencies(trial.load->latency.mean(), samples);
}

TEST_F(OpenLoopVerdict, WithTooFewMessagesForThePercentileTheMedianRanks) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { keep_samples(trial, 500); };
  const std::string text = verdict();
  EXPECT_TRUE(text.starts_with("At 5,000 messages/s: the median latency of io-uring is 0.67x that of epoll"))
      << text;
}

TEST_F(OpenLoopVerdict, WithStillFewerTheMeanRanks) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { keep_samples(trial, 15); };
  const std::string text = verdict();
  EXPECT_TRUE(text.starts_with("At 5,000 messages/s: the mean latency of io-uring is 0.67x that of epoll"))
      << text;
}

TEST_F(OpenLoopVerdict, TheSecondEntryIsComparedByLatencyToo) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.entry.kind == EntryKind::again)
      trial.load->latency = usual_latencies(1.2 * trial.load->latency.mean(), 5000);
  };
  const RaceResult result = judged();
  EXPECT_TRUE(result.cases.front().reference_differs);
  EXPECT_GT(result.cases.front().least_difference, 0.15);
}

}  // namespace
}  // namespace joust::race

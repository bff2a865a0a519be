// SPDX-License-Identifier: MIT
#include <cmath>

#include "race/checks_fixture.hpp"
#include "race/judgement/judge.hpp"

namespace joust::race {
namespace {

// A race at a given rate. In an open loop a fake's throughput is its capacity: epoll's median latency is then
// 3.76 ms. 5,000 requests are due in each of ten trials.
class ScheduleCheck : public Checks {
 protected:
  ScheduleCheck() { scenario.cases.front().load.rate_per_s = 5000; }

  CheckResult planted(const std::function<void(Trial&)>& fault) {
    plant("epoll", fault);
    return check(2);
  }
  static void achieve(Trial& trial, double share) {
    trial.load->messages.unsent = static_cast<std::uint64_t>(std::lround(5000 * (1 - share)));
  }
};

TEST_F(ScheduleCheck, AClosedLoopHasNone) {
  scenario.cases.front().load.rate_per_s = 0;
  check(1);
  const auto& checks = judged.cases.front().checks;
  EXPECT_EQ(std::ranges::count(checks, 2, &CheckResult::id), 0);
}

TEST_F(ScheduleCheck, AScheduleThatWasKeptPasses) {
  const CheckResult result = check(2);
  EXPECT_EQ(result.verdict, Verdict::pass) << result.detail;
  EXPECT_EQ(result.detail,
            "at least 100.0 % of the schedule kept; 99 % of the requests sent at most 10.0 us late");
}

TEST_F(ScheduleCheck, AGeneratorThatIsAlwaysLateBarsItsContestant) {
  const CheckResult result = planted([](Trial& trial) {
    trial.load->send_lateness_ns = latencies({{900'000, 5000}});
  });
  EXPECT_EQ(result.verdict, Verdict::refuse);
  ASSERT_TRUE(result.bars.contains("epoll")) << result.detail;
  EXPECT_TRUE(has(result.bars.at("epoll"),
                  "the generator did not keep the schedule: half of its requests "
                  "were late by 900 us or more, of a p99 latency of 7."))
      << result.detail;
  EXPECT_FALSE(entry(judged, "epoll").ranked);
  EXPECT_TRUE(entry(judged, "io-uring").ranked);
}

// The percentile that ranks is ten times as long as that: it is the server's.
TEST_F(ScheduleCheck, AGeneratorThatIsLateByAPartOfTheMedianIsTold) {
  const CheckResult result = planted([](Trial& trial) {
    trial.load->send_lateness_ns = latencies({{400'000, 5000}});
  });
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_TRUE(has(result.detail,
                  "epoll: half of the requests were sent 400 us late or more, of a median latency of 3.7"))
      << result.detail;
  EXPECT_TRUE(entry(judged, "epoll").ranked);
}

TEST_F(ScheduleCheck, AGeneratorThatIsLateAtTimesIsTold) {
  const CheckResult result = planted([](Trial& trial) {
    trial.load->send_lateness_ns = latencies({{5000, 4900}, {400'000, 100}});
  });
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_TRUE(
      has(result.detail, "one request of a hundred was sent late, epoll by 400 us (median latency 3.7"))
      << result.detail;
  EXPECT_TRUE(entry(judged, "epoll").ranked);
}

TEST_F(ScheduleCheck, LatenessThatIsNotKnownIsNotNone) {
  const CheckResult result = planted([](Trial& trial) {
    trial.load->send_lateness_ns = latencies({{5000, 50}});
  });
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_EQ(result.detail, "too few requests tell how late the generator was: epoll");
}

TEST_F(ScheduleCheck, LatenessIsThatOfAllTrialsTogether) {
  plant("epoll", [](Trial& trial) {
    trial.load->send_lateness_ns = latencies({{1000, 480}, {400'000, 20}});
  });
  const std::string detail = check(2).detail;
  EXPECT_TRUE(has(detail, "one request of a hundred was sent late, epoll by 400 us")) << detail;
}

TEST_F(ScheduleCheck, AServerThatDoesNotKeepUpIsNotRanked) {
  const CheckResult result = planted([](Trial& trial) { achieve(trial, 0.94); });
  ASSERT_TRUE(result.bars.contains("epoll")) << result.detail;
  EXPECT_EQ(
      result.bars.at("epoll"),
      "the server, or the load's receiving side, does not keep up with 5,000 messages/s: the backlog grew "
      "by 6.0 % of the requests due");
  EXPECT_DOUBLE_EQ(entry(judged, "epoll").summary.throughput_per_s->median, 4700)
      << "the replies in the window";
}

// With many connections each request finds a free slot, whatever the server does.
TEST_F(ScheduleCheck, ABacklogInTheSlotsIsOneToo) {
  const CheckResult result = planted([](Trial& trial) {
    trial.load->messages.open_at_opening = 100;
    trial.load->messages.open_at_close = 2500;
  });
  EXPECT_EQ(result.verdict, Verdict::refuse);
  ASSERT_TRUE(result.bars.contains("epoll")) << result.detail;
  EXPECT_TRUE(has(result.bars.at("epoll"), "the backlog grew by 4")) << result.detail;
  EXPECT_FALSE(entry(judged, "epoll").ranked);
  EXPECT_LT(entry(judged, "epoll").summary.throughput_per_s->median, 2700);
}

TEST_F(ScheduleCheck, RequestsThatAreUnderWayAtBothEndsAreNoBacklog) {
  const CheckResult result = planted(
      [](Trial& trial) { trial.load->messages.open_at_opening = trial.load->messages.open_at_close = 2500; });
  EXPECT_EQ(result.verdict, Verdict::pass) << result.detail;
}

// The time that a window lasts for its last replies, and the levels of a generation, say nothing of that.
TEST_F(ScheduleCheck, TheCountsJudgeAndNotTheThroughput) {
  const CheckResult result = planted([](Trial& trial) { trial.load->throughput_per_s = 4000; });
  EXPECT_EQ(result.verdict, Verdict::pass) << result.detail;
  EXPECT_EQ(planted([](Trial& trial) { trial.load->throughput_per_s = 5700; }).verdict, Verdict::pass);
  EXPECT_DOUBLE_EQ(entry(judged, "epoll").summary.throughput_per_s->median, 5000);
}

TEST_F(ScheduleCheck, OnlyAWholeIntervalBars) {
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.contestant.name == "epoll") achieve(trial, nth % 3 == 0 ? 0.995 : 0.96);
  };
  const CheckResult result = check(2);
  EXPECT_FALSE(result.bars.contains("epoll"));
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_TRUE(
      has(result.detail,
          "epoll: behind its schedule at times: the backlog grew by 4.0 % of the requests due (0.5 % to "
          "4.0 % by the round)"))
      << result.detail;
}

TEST_F(ScheduleCheck, FarBehindIsToldAfterOneRound) {
  scenario.rounds = 1;
  EXPECT_TRUE(planted([](Trial& trial) { achieve(trial, 0.5); }).bars.contains("epoll"));
}

TEST_F(ScheduleCheck, FewRoundsWarnAndDoNotBar) {
  for (const std::uint64_t rounds : {1, 3, 5}) {
    scenario.rounds = rounds;
    const CheckResult result = planted([](Trial& trial) { achieve(trial, 0.9); });
    EXPECT_EQ(result.verdict, Verdict::warn) << rounds;
    EXPECT_TRUE(has(result.detail, "epoll: behind its schedule at times: the backlog grew by 10.0 %"))
        << result.detail;
  }
  scenario.rounds = 6;
  EXPECT_TRUE(planted([](Trial& trial) { achieve(trial, 0.5); }).bars.contains("epoll"));
}

// Its p99.9 is 11 ms.
TEST_F(ScheduleCheck, TurnsThatAreShortBesideTheTailAreTold) {
  const auto in_turns_of = [](double turn_s) {
    return [=](Trial& trial) { trial.turns = {Turn{.number = 1, .turn_s = turn_s}}; };
  };
  const CheckResult result = planted(in_turns_of(0.12));
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_TRUE(has(result.detail, "epoll: its p99.9 of 11.")) << result.detail;
  EXPECT_TRUE(has(result.detail, "is more than a twentieth of a turn (120 ms), so its p99 is too small"))
      << result.detail;
  EXPECT_EQ(planted(in_turns_of(0.4)).verdict, Verdict::pass);
}

// The client of a paced load polls, so its CPU is always full.
TEST_F(ScheduleCheck, AFullCpuOfTheGeneratorIsNoFault) {
  const CheckResult result = planted([](Trial& trial) {
    achieve(trial, 0.93);
    trial.load->set_usage(
        {.user_s = 0.5 * trial.load->duration_s, .system_s = 0.49 * trial.load->duration_s});
    trial.server.usage->user_s = 0;
  });
  ASSERT_TRUE(result.bars.contains("epoll")) << result.detail;
  EXPECT_FALSE(has(result.bars.at("epoll"), "the generator did not")) << result.detail;
}

TEST_F(ScheduleCheck, ADisturbedTrialIsForgivenAndSeveralAreTold) {
  std::size_t disturbed = 1;
  runner.alter = [&](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.contestant.name != "epoll" || nth % 10 >= disturbed) return;
    trial.load->send_lateness_ns = latencies({{5000, 4800}, {10'000'000, 200}});
    achieve(trial, 0.5);
  };
  EXPECT_EQ(check(2).verdict, Verdict::pass);
  disturbed = 3;
  EXPECT_EQ(check(2).verdict, Verdict::warn);
  EXPECT_TRUE(entry(judged, "epoll").ranked);
}

TEST_F(ScheduleCheck, AFaultOfTheSecondEntryIsTheReferences) {
  plant("threads (again)", [](Trial& trial) { achieve(trial, 0.9); });
  EXPECT_TRUE(check(2).bars.contains("threads"));
}

TEST_F(ScheduleCheck, ALoadThatSaysNothingIsTold) {
  const CheckResult result = planted([](Trial& trial) { trial.load->plan.rate_per_s = 0; });
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_TRUE(has(result.detail, "epoll: whether its load kept the schedule is not known")) << result.detail;
}

TEST_F(ScheduleCheck, WhenNobodyKeepsUpNoContestantIsSound) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { achieve(trial, 0.5); };
  check(2);
  EXPECT_EQ(exit_code(judged), 3);
}

}  // namespace
}  // namespace joust::race

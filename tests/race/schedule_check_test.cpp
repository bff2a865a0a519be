// SPDX-License-Identifier: MIT
#include "race/checks_fixture.hpp"

namespace joust::race {
namespace {

// A race at a given rate. In an open loop a fake's throughput is its capacity: epoll's median latency is then
// 3.76 ms.
class ScheduleCheck : public Checks {
 protected:
  ScheduleCheck() { scenario.cases.front().load.send_at_rate(5000); }

  CheckResult planted(const std::function<void(Trial&)>& fault) {
    plant("epoll", fault);
    return check(2);
  }
  static void throughput_is(Trial& trial, double share) { trial.load->throughput_per_s = 5000 * share; }
};

TEST_F(ScheduleCheck, AClosedLoopHasNone) {
  scenario.cases.front().load.send_every({});
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
  const CheckResult result = planted([](Trial& trial) { trial.load->schedule->lateness_ns.p50 = 400e3; });
  EXPECT_EQ(result.verdict, Verdict::refuse);
  ASSERT_TRUE(result.bars.contains("epoll")) << result.detail;
  EXPECT_TRUE(has(result.bars.at("epoll"), "the generator did not keep the schedule: half of its requests "
                                           "were late by 400 us or more, of a median latency of 3.7"))
      << result.detail;
  EXPECT_FALSE(entry(judged, "epoll").ranked);
  EXPECT_TRUE(entry(judged, "io-uring").ranked);
}

TEST_F(ScheduleCheck, AGeneratorThatIsLateAtTimesIsTold) {
  const CheckResult result = planted([](Trial& trial) { trial.load->schedule->lateness_ns.p99 = 400e3; });
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_TRUE(has(result.detail, "epoll: one request of a hundred was sent late by 400 us or more"))
      << result.detail;
  EXPECT_TRUE(entry(judged, "epoll").ranked);
}

TEST_F(ScheduleCheck, AServerThatDoesNotKeepUpIsNotRanked) {
  const CheckResult result = planted([](Trial& trial) {
    trial.load->schedule->unsent = 300;
    throughput_is(trial, 0.93);
  });
  ASSERT_TRUE(result.bars.contains("epoll")) << result.detail;
  EXPECT_EQ(result.bars.at("epoll"),
            "the server does not keep up with 5,000 messages/s: 93.0 % of the rate achieved, 6.0 % of the "
            "requests due not sent in the window");
}

// Where there are more slots than requests behind schedule, all are sent, and wait in the server's queue.
TEST_F(ScheduleCheck, ABacklogWithinTheSlotsIsSeenByTheThroughput) {
  EXPECT_TRUE(planted([](Trial& trial) { throughput_is(trial, 0.98); }).bars.contains("epoll"));
  EXPECT_FALSE(planted([](Trial& trial) { throughput_is(trial, 0.995); }).bars.contains("epoll"));
  EXPECT_TRUE(has(planted([](Trial& trial) { throughput_is(trial, 1.02); }).detail, "sent more than"));
}

TEST_F(ScheduleCheck, AGeneratorWithoutCpuIsNamedInsteadOfItsServer) {
  const CheckResult result = planted([](Trial& trial) {
    trial.load->schedule->unsent = 300;
    trial.load->usage = {.user_s = 0.5 * trial.load->duration_s, .system_s = 0.49 * trial.load->duration_s};
    trial.server.usage->user_s = 0;
  });
  ASSERT_TRUE(result.bars.contains("epoll")) << result.detail;
  EXPECT_TRUE(has(result.bars.at("epoll"), "the generator did not keep the schedule: 99 % of its CPU was in "
                                           "use, and 70 % of the server's"))
      << result.detail;
}

TEST_F(ScheduleCheck, AFewDisturbedTrialsAreForgiven) {
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.contestant.name != "epoll" || nth > 2) return;
    trial.load->schedule->unsent = 2000;
    trial.load->schedule->lateness_ns.p50 = trial.load->schedule->lateness_ns.p99 = 10e6;
    throughput_is(trial, 0.5);
  };
  EXPECT_EQ(check(2).verdict, Verdict::pass);
}

TEST_F(ScheduleCheck, ChanceOfAPoissonProcessIsNoFault) {
  scenario.cases.front().load.arrivals = "poisson";  // 50,000 messages
  EXPECT_FALSE(planted([](Trial& trial) { throughput_is(trial, 0.975); }).bars.contains("epoll"));
  EXPECT_TRUE(planted([](Trial& trial) { throughput_is(trial, 0.965); }).bars.contains("epoll"));
}

TEST_F(ScheduleCheck, AFaultOfTheSecondEntryIsTheReferences) {
  plant("threads (again)", [](Trial& trial) { throughput_is(trial, 0.9); });
  EXPECT_TRUE(check(2).bars.contains("threads"));
}

TEST_F(ScheduleCheck, ALoadThatSaysNothingIsTold) {
  const CheckResult result = planted([](Trial& trial) { trial.load->schedule.reset(); });
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_TRUE(has(result.detail, "epoll: whether its load kept the schedule is not known")) << result.detail;
}

TEST_F(ScheduleCheck, WhenNobodyKeepsUpNoContestantIsSound) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { throughput_is(trial, 0.5); };
  check(2);
  EXPECT_EQ(exit_code(judged), 3);
}

}  // namespace
}  // namespace joust::race

// SPDX-License-Identifier: MIT
#include "race/checks_fixture.hpp"
#include "race/judgement/judge.hpp"

namespace joust::race {
namespace {

TEST_F(Checks, AFlawlessRacePassesAllOfThem) {
  RaceResult result = race();
  judge(result);
  std::vector<int> ids;
  for (const CheckResult& check : result.cases.front().checks) {
    ids.push_back(check.id);
    EXPECT_EQ(check.verdict, Verdict::pass) << check.id << ": " << check.detail;
    EXPECT_FALSE(check.title.empty());
    EXPECT_FALSE(check.detail.empty()) << check.id;
  }
  EXPECT_EQ(ids, (std::vector<int>{1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(exit_code(result), 0);
}

TEST_F(Checks, WhereNothingWasMeasuredNoCheckPasses) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) {
    trial.load.reset();
    trial.failure = "it hung";
  };
  RaceResult result = race();
  judge(result);
  for (const CheckResult& check : result.cases.front().checks) {
    if (check.id == 11) continue;  // the environment is what it is
    EXPECT_NE(check.verdict, Verdict::pass) << check.id << ": " << check.detail;
    if (check.id == 1 || check.id == 5 || check.id == 6 || check.id == 7 || check.id == 8 || check.id == 10 ||
        check.id == 12) {
      EXPECT_TRUE(has(check.detail, "nothing to check: ")) << check.id << ": " << check.detail;
    }
  }
}

// 1

TEST_F(Checks, AContestantNearTheGeneratorsCeilingIsNotRanked) {
  runner.otherwise = 140e3;
  const CheckResult found = check(1);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_FALSE(found.invalidates);
  EXPECT_FALSE(entry(judged, "io-uring").ranked);
  EXPECT_TRUE(entry(judged, "io-uring").at_least);
  EXPECT_TRUE(has(entry(judged, "io-uring").reason, "at least 106k")) << entry(judged, "io-uring").reason;
  EXPECT_TRUE(entry(judged, "epoll").ranked);
  EXPECT_FALSE(entry(judged, "io-uring").place);
}

TEST_F(Checks, ACeilingBelowWhatTheClientDidWithAServerIsNone) {
  runner.otherwise = 60e3;
  const CheckResult found = check(1);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "io-uring: the ceiling was disturbed")) << found.detail;
  EXPECT_FALSE(has(found.detail, "a client of")) << found.detail;
  EXPECT_FALSE(entry(judged, "io-uring").at_least);
  EXPECT_TRUE(entry(judged, "io-uring").ranked);
}

TEST_F(Checks, AProtocolWithoutACeilingHasItsReasonOnce) {
  scenario.cases.front().protocol = "disk";
  const CheckResult found = check(1);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_EQ(found.detail,
            "the generator's ceiling is not measured: of 'disk' the server's own work is the larger part, "
            "which would slow down a client in the same process");
  EXPECT_TRUE(entry(judged, "io-uring").ranked);
}

TEST_F(Checks, OfAClientOfSeveralLoopsTheCeilingIsNotKnown) {
  for (Contestant& contestant : scenario.contestants) contestant.client.threads = 2;
  const CheckResult result = check(1);
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_EQ(result.detail,
            "threads, epoll, io-uring: the ceiling is measured with one loop, and is not known for a client "
            "of 2: only CPU time says whether that was the limit");
}

TEST_F(Checks, WhoKeepsPaceWithTheIntervalIsNotFasterThanOthersWhoDo) {
  scenario.cases.front().load.interval =
      std::chrono::milliseconds(2);  // 256 connections: 128k messages/s at most
  const CheckResult found = check(1);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "io-uring keeps pace with the interval")) << found.detail;
  EXPECT_TRUE(entry(judged, "io-uring").at_least);
  EXPECT_TRUE(entry(judged, "io-uring").ranked);
}

TEST_F(Checks, ASaturatedClientBesideAnIdleServerIsTold) {
  plant("epoll", [](Trial& trial) {
    trial.load->cpu.user_s = 0.4, trial.load->cpu.system_s = 0.59;
    trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.4;
  });
  const CheckResult found = check(1);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "epoll: the client was the limit, with 99 % of its CPU in use"))
      << found.detail;
  EXPECT_TRUE(entry(judged, "epoll").at_least);
  EXPECT_TRUE(entry(judged, "epoll").ranked);
  EXPECT_FALSE(entry(judged, "epoll").place) << "a bound has no place among figures";
  EXPECT_TRUE(entry(judged, "epoll").cost_place);
  EXPECT_EQ(entry(judged, "threads").place, (stats::Places{3, 3})) << "the bound of epoll is greater";
  EXPECT_NEAR(entry(judged, "epoll").summary.client_utilisation->median, 0.99, 0.001);
  EXPECT_NEAR(entry(judged, "epoll").summary.server_utilisation->median, 0.50, 0.001);
}

// A server that goes on when all replies have come uses CPU time beyond the window.
TEST_F(Checks, NoSideUsesMoreThanItsCpus) {
  plant("epoll", [](Trial& trial) {
    trial.load->cpu.user_s = 0.6, trial.load->cpu.system_s = 0.6;
    trial.server.usage->user_s = 2, trial.server.usage->system_s = 6;
  });
  check(1);
  EXPECT_NEAR(entry(judged, "epoll").summary.client_utilisation->median, 1, 0.001);
  EXPECT_FALSE(entry(judged, "epoll").summary.server_utilisation) << "it is not known";
}

// Softirqs are in nobody's CPU time, and another program's time is in neither side's.
TEST_F(Checks, TheBusyTimeOfTheCpusContainsAllKinds) {
  plant("epoll", [](Trial& trial) {
    const double per_s = static_cast<double>(trial.load->messages.verified) / 1e6;  // 1 us for each message
    trial.pinned = MachineCpu{.user_s = 2 * per_s,
                              .system_s = 3 * per_s,
                              .idle_s = 10,
                              .softirq_s = 4 * per_s,
                              .steal_s = 5 * per_s};
  });
  check(1);
  EXPECT_NEAR(entry(judged, "epoll").summary.busy_us_per_message.value_or(0), 9, 0.001);
  EXPECT_FALSE(entry(judged, "threads").summary.busy_us_per_message) << "its CPUs are not known";
}

// One loop of four does most of the work: the side can do no more, although it uses half of its CPUs.
TEST_F(Checks, AFullLoopMakesItsSideFull) {
  scenario.contestants.front().client.threads = 4;
  plant("threads", [](Trial& trial) {
    trial.client.threads = 4;
    trial.load->cpu.user_s = 1, trial.load->cpu.system_s = 1;  // of four CPUs, in a second
    trial.busiest_thread.client = 0.48;
  });
  RaceResult result = race();
  result.cpus.client = "1-4";
  const CheckResult found = check(1, std::move(result));
  EXPECT_NEAR(entry(judged, "threads").summary.client_utilisation->median, 0.96, 0.001);
  EXPECT_TRUE(entry(judged, "threads").at_least) << found.detail;
}

// A server that waits for its client wakes up for fewer messages each time, and so looks as busy as it.
TEST_F(Checks, ABusyServerDoesNotMakeAFullClientLight) {
  plant("epoll", [](Trial& trial) {
    trial.load->cpu.user_s = 0.4, trial.load->cpu.system_s = 0.55;
    trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.89;
  });
  check(1);
  EXPECT_TRUE(entry(judged, "epoll").at_least);
  plant("epoll", [](Trial& trial) {
    trial.load->cpu.user_s = 0.3, trial.load->cpu.system_s = 0.5;
    trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.6;
  });
  check(1);
  EXPECT_FALSE(entry(judged, "epoll").at_least) << "80 % of the client's CPU";
}

// Nothing is said of what is not known: neither that it is a bound nor that it has a place.
TEST_F(Checks, AClientThatMayHaveBeenFullLeavesTheLimitUnknown) {
  std::size_t nth = 0;
  plant("epoll", [&](Trial& trial) {
    trial.load->cpu.user_s = 0.3, trial.load->cpu.system_s = ++nth % 2 == 0 ? 0.65 : 0.4;
  });
  const CheckResult found = check(1);
  EXPECT_FALSE(entry(judged, "epoll").at_least) << "0.7 and 0.95 in turn: the mean is below the limit";
  EXPECT_TRUE(entry(judged, "epoll").limit_unknown);
  EXPECT_FALSE(entry(judged, "epoll").place);
  EXPECT_TRUE(has(found.detail, "the client may have been the limit")) << found.detail;
  EXPECT_TRUE(std::ranges::any_of(judged.cases.front().causes, [](const Cause& cause) {
    return has(cause.sentence, "Whether the client or the server was the limit is not known of epoll");
  }));
}

// A client that gets a third of its CPU and uses all of it is full.
TEST_F(Checks, AStrangerOnTheClientsCpuMakesItFull) {
  plant("epoll", [](Trial& trial) {
    trial.load->cpu.user_s = 0.15, trial.load->cpu.system_s = 0.2;
    trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.4;
    trial.server_cpus = MachineCpu{.user_s = 0.1, .system_s = 0.4, .idle_s = 0.5};
    trial.client_cpus = MachineCpu{.user_s = 0.8, .system_s = 0.2, .idle_s = 0};
  });
  check(1);
  EXPECT_GT(entry(judged, "epoll").summary.client_utilisation->median, 0.9);
  EXPECT_TRUE(entry(judged, "epoll").at_least);
  const std::string& cause = judged.cases.front().causes.front().sentence;
  EXPECT_TRUE(has(cause, "Other programs used ") && cause.ends_with(" % of the client's CPUs")) << cause;
}

TEST_F(Checks, OfWrongAnswersNotEvenABoundIsBelieved) {
  plant("epoll", [](Trial& trial) {
    trial.load->cpu.user_s = 0.4, trial.load->cpu.system_s = 0.59;
    trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.4;
    trial.load->messages.failed = 3, trial.load->messages.sent += 3;
    trial.load->errors[static_cast<std::size_t>(Stage::verify)] = 3;
  });
  check(1);
  EXPECT_FALSE(entry(judged, "epoll").ranked);
  EXPECT_FALSE(entry(judged, "epoll").at_least);
  EXPECT_FALSE(entry(judged, "epoll").cost_place);
}

TEST_F(Checks, OfSidesThatPollTheLimitIsNotKnown) {
  for (Contestant& contestant : scenario.contestants) contestant.server.wait = "spin";
  plant("epoll", [](Trial& trial) {
    trial.load->cpu.user_s = 0.4, trial.load->cpu.system_s = 0.59;
    trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.4;
  });
  const CheckResult found = check(1);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "a side that polls is always busy")) << found.detail;
  EXPECT_FALSE(entry(judged, "epoll").at_least);
  EXPECT_FALSE(entry(judged, "epoll").cost_place) << "its CPU time is that of the race";
}

TEST_F(Checks, StealTimeIsNotIdleTime) {
  plant("epoll", [](Trial& trial) {
    trial.load->cpu.user_s = 0.4, trial.load->cpu.system_s = 0.39;
    trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.4;
    trial.machine->steal_s = trial.machine->total_s() / 4;  // 20 % of what there is then
  });
  EXPECT_TRUE(has(check(1).detail, "epoll: the client was the limit"));
}

}  // namespace
}  // namespace joust::race

// SPDX-License-Identifier: MIT
#include "race/run/race.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"

namespace joust::race {
namespace {

class Race : public testing::Test {
 protected:
  Race() { runner.throughput = {{"threads", 30e3}, {"epoll", 68e3}, {"io-uring", 106e3}}; }

  RaceResult run() {
    return run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, stop);
  }

  static const Entry& entry(const RaceResult& result, const std::string& name) {
    return *find_entry(result.cases.front(), name);
  }

  Scenario scenario = fake_scenario({"threads", "epoll", "io-uring"});
  FakeRunner runner;
  RaceObserver observer;
  Stop stop;
};

// Steals `share` of the machine from this trial.
void disturb(Trial& trial, double share) {
  trial.machine->steal_s = trial.machine->total_s() * share / (1 - share);
}

TEST_F(Race, EveryContestantHasOneTrialPerRound) {
  const RaceResult result = run();
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.rounds, 5U);
  for (const char* name : {"threads", "epoll", "io-uring"}) {
    const Entry& who = entry(result, name);
    ASSERT_EQ(who.trials.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(who.trials[i].round, i + 1);
      EXPECT_GE(who.trials[i].position, 1U);
      EXPECT_LE(who.trials[i].position, 5U);
    }
  }
  EXPECT_EQ(find_entry(result.cases.front(), "threads (again)", EntryKind::again)->trials.size(), 5U);
  EXPECT_EQ(find_entry(result.cases.front(), "ceiling (null)", EntryKind::ceiling)->trials.size(), 1U);
}

TEST_F(Race, ACeilingThatIsNearIsMeasuredThreeTimes) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.entry.kind == EntryKind::ceiling) trial = flawless_trial(order, 150e3);
  };
  const RaceResult result = run();
  EXPECT_EQ(find_entry(result.cases.front(), "ceiling (null)", EntryKind::ceiling)->trials.size(), 3U);
}

TEST_F(Race, TheNextContestantIsTheReferenceWhereItsProgramIsMissing) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (!order.entry.contestant.name.starts_with("threads")) return;
    trial.load.reset();
    trial.not_found = true;
    trial.failure = "the command was not found";
  };
  const RaceResult result = run();
  const CaseResult& one = result.cases.front();
  EXPECT_EQ(one.reference, "epoll");
  EXPECT_EQ(entry(result, "threads").unavailable, "unavailable: the command was not found");
  const Entry& again = *find_entry(one, "epoll (again)", EntryKind::again);
  EXPECT_EQ(again.repeats, "epoll");
  EXPECT_GE(again.trials.size(), 4U) << "the first round may have been over";
  EXPECT_EQ(find_entry(one, "threads (again)", EntryKind::again), nullptr);
}

TEST_F(Race, SystemCallsAreThoseOfThePassThatCountsThem) {
  const RaceResult result = run();
  EXPECT_EQ(std::ranges::count(runner.ran, "count epoll"), 1);
  const Trial& trial = entry(result, "epoll").trials.back();
  EXPECT_DOUBLE_EQ(*trial.server_calls, 1.5 * static_cast<double>(trial.load->messages.verified));
  EXPECT_DOUBLE_EQ(*trial.client_calls, 2.0 * static_cast<double>(trial.load->messages.verified));
}

TEST_F(Race, SystemCallsOfAShortWindowAreNotKnown) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (!order.count_calls) return;
    if (order.entry.contestant.name == "epoll") trial.load->duration_s = 0.004;
    if (order.entry.contestant.name == "threads") trial.load->messages.verified = 99;
  };
  const RaceResult result = run();
  for (const char* name : {"threads", "epoll"}) {
    const CallCount& calls = entry(result, name).calls;
    EXPECT_FALSE(calls.server_per_message()) << name;
    EXPECT_FALSE(calls.client_per_message()) << name;
    EXPECT_TRUE(calls.reason.starts_with("not counted: the timed window held")) << calls.reason;
    EXPECT_FALSE(entry(result, name).trials.front().server_calls) << name;
    EXPECT_EQ(entry(result, name).trials.front().calls_reason, calls.reason) << "as in the JSON";
  }
  const CallCount& counted = entry(result, "io-uring").calls;
  EXPECT_GT(counted.messages, 0U);
  EXPECT_EQ(counted.server, 1.5 * static_cast<double>(counted.messages)) << "as its counting trial has it";
  EXPECT_EQ(counted.server_per_message(), 1.5);
}

TEST_F(Race, ARefusedTracepointIsAskedForOnceAndTheReasonIsKept) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (!order.count_calls) return;
    trial.server_calls = trial.client_calls = std::nullopt;
    trial.calls_reason = "needs root";
  };
  const RaceResult result = run();
  EXPECT_EQ(
      std::ranges::count_if(runner.ran, [](const std::string& name) { return name.starts_with("count"); }),
      1);
  for (const char* name : {"threads", "epoll", "io-uring"}) {
    EXPECT_EQ(entry(result, name).calls.reason, "needs root");
    EXPECT_FALSE(entry(result, name).trials.front().server_calls);
  }
}

TEST_F(Race, CountersThatWereReadTooLateAreReadAgain) {
  int late = 2;
  runner.alter = [&](const TrialOrder& order, std::size_t, Trial& trial) {
    if (!order.count_calls || late-- <= 0) return;
    trial.late = true;
    trial.server_calls = trial.client_calls = std::nullopt;
    trial.calls_reason = "read too late";
  };
  const RaceResult result = run();
  for (const char* name : {"threads", "epoll", "io-uring"})
    EXPECT_TRUE(entry(result, name).calls.server_per_message());
}

TEST_F(Race, ACrashDoesNotSpoilTheOthers) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.entry.contestant.name != "epoll") return;
    trial.load.reset();
    trial.failure = "the server was ended by signal 11 (Segmentation fault)";
  };
  const RaceResult result = run();
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(entry(result, "epoll").trials.size(), kMostFailures) << "and is not tried for ever";
  EXPECT_EQ(entry(result, "threads").trials.size(), 5U);
  EXPECT_EQ(entry(result, "io-uring").trials.size(), 5U);
  EXPECT_EQ(std::ranges::count(runner.ran, "count epoll"), 0);
}

TEST_F(Race, ARefusalEndsItAtOnceInTheChildsOwnWords) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.entry.contestant.name != "epoll") return;
    trial.load.reset();
    trial.refused = true;
    trial.failure = "the load has no result: exit code 2";
    trial.last_words = {"joust: --sink: no such thing"};
  };
  const RaceResult result = run();
  EXPECT_EQ(result.refused, "joust: --sink: no such thing");
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(runner.ran.back(), "epoll") << "nothing after it";
  EXPECT_EQ(std::ranges::count(runner.ran, "epoll"), 1);
}

TEST_F(Race, ATrialWithoutAReplySaysWhyItsCallsAreNotCounted) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (!order.count_calls) return;
    trial.load->messages.verified = 0;
    if (order.entry.contestant.name == "epoll") trial.load->messages_of_errors = {"verify: it exists"};
  };
  const RaceResult result = run();
  EXPECT_EQ(entry(result, "epoll").calls.reason, "the trial that counts them failed: verify: it exists");
  EXPECT_EQ(entry(result, "threads").calls.reason,
            "the trial that counts them failed: not one reply in its timed window");
}

TEST_F(Race, OneFailureIsForgivenByTheRace) {
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.contestant.name == "epoll" && nth == 1) trial.failure = "the load hung";
  };
  const RaceResult result = run();
  EXPECT_EQ(entry(result, "epoll").trials.size(), 5U);
  EXPECT_EQ(usable_trials(entry(result, "epoll")).size(), 4U);
}

TEST_F(Race, ADisturbedRoundIsRunAgainAndBothAreShown) {
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.contestant.name == "epoll" && nth == 1) disturb(trial, 0.10);
  };
  const RaceResult result = run();
  EXPECT_EQ(result.rounds, 5U);
  EXPECT_EQ(result.rounds_again, 1U);
  const Entry& epoll = entry(result, "epoll");
  ASSERT_EQ(epoll.trials.size(), 6U);
  EXPECT_TRUE(epoll.trials[1].disturbed);
  EXPECT_FALSE(epoll.trials[1].counted);
  EXPECT_EQ(epoll.trials[2].round, 2U);
  EXPECT_EQ(epoll.trials[2].attempt, 2U);
  EXPECT_TRUE(epoll.trials[2].counted);
  EXPECT_FALSE(entry(result, "threads").trials[1].counted) << "pairs stay within one attempt";
  EXPECT_EQ(usable_trials(epoll).size(), 5U);
}

// Of the machine, used by processes that are not ours.
void add_strangers(Trial& trial, double share) {
  const double idle = trial.machine->total_s() * share;
  const double ours = trial.load->cpu.user_s + trial.load->cpu.system_s + trial.server.usage->user_s +
                      trial.server.usage->system_s;
  *trial.machine = {.user_s = ours + idle, .idle_s = trial.machine->total_s() - ours - idle};
}

TEST_F(Race, ARoundBesideABusyStrangerIsRunAgain) {
  struct Notes : RaceObserver {
    std::vector<std::string> lines;
    void note(const std::string& line) override { lines.push_back(line); }
  } notes;
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.contestant.name == "epoll" && nth == 1) add_strangers(trial, 0.15);
    if (order.entry.contestant.name == "threads" && nth == 3) add_strangers(trial, 0.05);
  };
  const RaceResult result = run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, notes, stop);
  EXPECT_EQ(result.rounds_again, 1U);
  EXPECT_TRUE(entry(result, "epoll").trials[1].disturbed);
  EXPECT_FALSE(entry(result, "epoll").trials[1].counted);
  EXPECT_EQ(notes.lines, std::vector<std::string>{
                             "round 2 had 14 % of the machine used by other processes: it is run again"});
}

TEST_F(Race, ARoundWhoseQuotaRanOutIsRunAgain) {
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.contestant.name == "epoll")
      trial.throttled = Throttling{.times = nth == 1, .time_s = nth == 1 ? 0.001 : 0};
  };
  const RaceResult result = run();
  EXPECT_EQ(result.rounds_again, 1U);
  EXPECT_TRUE(entry(result, "epoll").trials[1].disturbed);
  EXPECT_FALSE(entry(result, "epoll").trials[1].counted);
}

TEST_F(Race, ATrialThatWasObservedLateIsNotUndisturbed) {
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.contestant.name != "epoll" || nth != 1) return;
    trial.late = true;
    trial.server.usage.reset();
  };
  const RaceResult result = run();
  EXPECT_EQ(result.rounds_again, 1U);
  EXPECT_TRUE(entry(result, "epoll").trials[1].disturbed);
  EXPECT_FALSE(entry(result, "epoll").trials[1].counted);
}

TEST_F(Race, AnUnknownUsageIsNoStrangers) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (!order.entry.in_process) trial.server.usage.reset();
  };
  EXPECT_EQ(run().rounds_again, 0U);
}

TEST_F(Race, BusyStrangersAreBorneInTheEnd) {
  scenario.rounds = 10;
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (!order.entry.in_process) add_strangers(trial, 0.15);
  };
  EXPECT_EQ(run().rounds_again, 3U);
}

TEST_F(Race, AtMostThreeRoundsInTenAreRunAgain) {
  scenario.rounds = 10;
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { disturb(trial, 0.10); };
  const RaceResult result = run();
  EXPECT_EQ(result.rounds_again, 3U);
  EXPECT_EQ(entry(result, "epoll").trials.size(), 13U);
  EXPECT_EQ(usable_trials(entry(result, "epoll")).size(), 10U);
}

TEST_F(Race, TheLeastDisturbedAttemptCounts) {
  scenario.rounds = 10;
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    const std::vector<double> steal{0.30, 0.08, 0.20, 0.10};
    if (!order.count_calls && order.entry.kind != EntryKind::ceiling)
      disturb(trial, nth < 4 ? steal[nth] : 0);
  };
  const RaceResult result = run();
  const Entry& epoll = entry(result, "epoll");
  for (const Trial& trial : epoll.trials)
    if (trial.round == 1) {
      EXPECT_EQ(trial.counted, trial.attempt == 2);
    }
}

TEST_F(Race, AQuickRaceRunsNothingAgain) {
  scenario.quick = true;
  scenario.rounds = 10;
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { disturb(trial, 0.10); };
  EXPECT_EQ(run().rounds_again, 0U);
}

TEST_F(Race, AnInterruptionKeepsWhatWasMeasured) {
  runner.alter = [this](const TrialOrder&, std::size_t, Trial& trial) {
    if (runner.ran.size() < 12) return;
    stop.request();
    trial.interrupted = true;
  };
  const RaceResult result = run();
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.rounds, 2U);
  EXPECT_EQ(result.incomplete, "interrupted after 2 of 5 rounds");
  EXPECT_EQ(runner.ran.size(), 12U);
  EXPECT_GE(usable_trials(entry(result, "epoll")).size(), 2U);
}

TEST_F(Race, WithdrawnAndRunAgainTrialsAreAnnounced) {
  struct Notes : RaceObserver {
    std::vector<std::string> lines;
    void note(const std::string& line) override { lines.push_back(line); }
  } notes;
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.entry.contestant.name == "epoll") trial.failure = "it crashed";
  };
  run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, notes, stop);
  EXPECT_EQ(notes.lines, (std::vector<std::string>{"epoll: it crashed",
                                                   "epoll has failed 2 times and is not tried any more"}));
}

class RaceOfWholeTrials : public testing::Test {
 protected:
  RaceResult run() {
    return run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, stop);
  }

  Scenario scenario = fake_scenario({"threads", "epoll"});
  FakeRunner runner;
  RaceObserver observer;
  Stop stop;
};

TEST_F(RaceOfWholeTrials, EndsWhenItsTimeIsOver) {
  scenario.rounds = 0;
  EXPECT_EQ(run().rounds, kStandardRounds);
  scenario.time = std::chrono::milliseconds(1);
  scenario.few_rounds = true;
  EXPECT_EQ(run().rounds, kQuickRounds) << "a quick race of whole trials";
  scenario.few_rounds = false;
  EXPECT_EQ(run().rounds, 1U) << "the first round is always run";
  scenario.cases.front().load.messages = 1;
  EXPECT_EQ(run().rounds, 1U);
  scenario.rounds = 4;
  EXPECT_EQ(run().rounds, 4U) << "a number of rounds has no time";
}

TEST_F(RaceOfWholeTrials, WithoutTimeADisturbedRoundIsNotRunAgain) {
  scenario.rounds = 0;
  scenario.time = std::chrono::milliseconds(1);
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) {
    trial.machine->steal_s = trial.machine->total_s() / 4;
  };
  EXPECT_EQ(run().rounds_again, 0U);
}

// Races at a given rate, of fakes.

class OpenLoopRace : public testing::Test {
 protected:
  OpenLoopRace() { scenario.cases.front().load.rate_per_s = 5000; }

  RaceResult run() {
    return run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, stop);
  }

  Scenario scenario = fake_scenario({"threads", "epoll", "io-uring"});
  FakeRunner runner;
  RaceObserver observer;
  Stop stop;
};

// All arrivals being the same in every round, a race would measure one sample of them again and again.
TEST_F(OpenLoopRace, ArrivalsDifferFromRoundToRoundAndAreTheSameForAll) {
  scenario.cases.front().load.arrivals = LoadPlan::Arrivals::poisson;
  std::map<std::string, std::vector<std::uint64_t>> seeds;
  runner.alter = [&](const TrialOrder& order, std::size_t, Trial&) {
    if (!order.count_calls) seeds[order.entry.contestant.name].push_back(order.load_case.load.seed);
  };
  run();
  const auto first = seeds["epoll"];
  EXPECT_EQ(first.size(), 5U);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 5U);
  for (const char* name : {"threads", "threads (again)", "io-uring"}) EXPECT_EQ(seeds[name], first) << name;
  seeds.clear();
  run();
  EXPECT_EQ(seeds["epoll"], first) << "the seed of the race repeats them";
}

}  // namespace
}  // namespace joust::race

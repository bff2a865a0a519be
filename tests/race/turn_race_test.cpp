// SPDX-License-Identifier: MIT
//
// Races whose contestants take turns, with generations that need no processes.
#include <algorithm>
#include <thread>

#include "race/figures/ranking.hpp"
#include "race/judgement/judge.hpp"
#include "race/turn_race_fixture.hpp"
#include "stats/intervals.hpp"
#include "stats/summary.hpp"

namespace joust::race {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(TurnRace, EveryRoundIsAGeneration) {
  const RaceResult result = run();
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(runner.world.generations, 8);
  for (const char* name : {"threads", "epoll"}) {
    ASSERT_EQ(entry(result, name).trials.size(), 8U);
    for (const Trial& trial : entry(result, name).trials) EXPECT_GT(trial.turns.size(), 10U);
  }
  EXPECT_EQ(std::ranges::count(runner.ran, "count epoll"), 1) << "calls are counted in windows of their own";
  EXPECT_EQ(std::ranges::count(runner.ran, "epoll"), 0);
}

// Of two that are not the reference, in a race with a third one that is much noisier.
TEST_F(TurnRace, ARatioIsThatOfItsTwoContestantsAlone) {
  scenario = fake_scenario({"threads", "epoll", "io-uring"}, 8);
  scenario.cases.front().protocol = "turns";
  runner.world.rate = {{"threads", 100e3}, {"epoll", 100e3}, {"io-uring", 90e3}};
  runner.world.stalls["threads"] = 0.3;
  const RaceResult result = run();
  const Entry &one = entry(result, "io-uring"), &other = entry(result, "epoll");
  std::vector<double> generations;
  for (std::size_t i = 0; i < 8; ++i)
    generations.push_back(
        stats::centre(log_ratios_of_turns(one.trials[i], other.trials[i], &Turn::throughput_per_s), {})
            .estimate);
  const auto pair = result.cases.front().ranking.of("io-uring", "epoll");
  EXPECT_DOUBLE_EQ(pair->ratio.estimate, std::exp(stats::mean(generations)));
}

TEST_F(TurnRace, OffMeansAWindowForEach) {
  scenario.turns = false;
  const RaceResult result = run();
  EXPECT_EQ(runner.world.generations, 0);
  EXPECT_EQ(entry(result, "epoll").trials.size(), 8U);
}

TEST_F(TurnRace, AnIntervalTakesNoTurns) {
  scenario.cases.front().load.interval = milliseconds(1);
  run();
  EXPECT_EQ(runner.world.generations, 0);
}

TEST_F(TurnRace, ARateTakesTurnsUnlessItIsLow) {
  LoadPlan& load = scenario.cases.front().load;
  load.rate_per_s = 5000;
  run();
  EXPECT_EQ(runner.world.generations, 8);
  load.rate_per_s = 19;
  run();
  EXPECT_EQ(runner.world.generations, 8) << "the longest turn would have nine messages";
}

// A burst that falls into ramps would never be measured.
TEST_F(TurnRace, BurstsAreMeasuredInWindowsOfTheirOwn) {
  LoadPlan& load = scenario.cases.front().load;
  load.rate_per_s = 5000;
  load.phase = LoadPlan::Phase::together;
  run();
  EXPECT_EQ(runner.world.generations, 0);
}

TEST_F(TurnRace, ARaceByTimeHasEnoughSamplesForAPercentile) {
  scenario.rounds = 0;
  scenario.cases.front().load.connections = 100;
  scenario.cases.front().load.rate_per_s = 2500;
  scenario.time = seconds(12);
  const Plan plan = make_plan(scenario, fake_catalogue(), 1);
  EXPECT_EQ(plan.cases.front().plan.load.duration, milliseconds(800)) << "2,000 messages";
}

TEST_F(TurnRace, TheOpeningOfManyConnectionsLeavesLessTimeForTurns) {
  scenario.rounds = 0;
  scenario.time = seconds(30);
  const auto in_turns = [&](std::uint64_t connections) {
    LoadPlan& load = scenario.cases.front().load;
    load.duration = seconds(1);
    load.connections = connections;
    return make_plan(scenario, fake_catalogue(), 1).cases.front().plan.load.duration;
  };
  EXPECT_GT(in_turns(10), in_turns(2000) + milliseconds(100));
}

TEST_F(TurnRace, AWarmUpThatWasAskedForIsKeptInARaceByTime) {
  scenario.rounds = 0;
  LoadPlan& load = scenario.cases.front().load;
  load.warmup = seconds(2);
  const auto warmup = [&] { return make_plan(scenario, fake_catalogue(), 1).cases.front().plan.load.warmup; };
  EXPECT_EQ(warmup(), milliseconds(100)) << "the default is shortened";
  scenario.cases.front().warmup_given = true;
  EXPECT_EQ(warmup(), seconds(2));
}

// Twelve windows of 100 ms after twelve warm-ups of two seconds would measure mostly starts.
TEST_F(TurnRace, ALongWarmUpLeavesFewerAndLongerGenerations) {
  scenario.rounds = 0;
  scenario.time = seconds(60);
  Case& one = scenario.cases.front();
  one.warmup_given = true;
  const auto windows = [&](Duration warmup) {
    one.load.warmup = warmup;
    return make_plan(scenario, fake_catalogue(), 1).cases.front().plan.load.duration;
  };
  EXPECT_GE(windows(seconds(1)), milliseconds(500));
  EXPECT_GE(windows(seconds(2)), milliseconds(250)) << "six generations, which intervals take";
}

TEST_F(TurnRace, AContestantMayHaveAWarmUpOfItsOwn) {
  scenario.rounds = 0;
  scenario.time = seconds(60);
  const auto rest = [&] { return make_plan(scenario, fake_catalogue(), 1).cases.front().plan.turn.rest; };
  const Duration before = rest();
  scenario.contestants.back().warmup = seconds(4);
  EXPECT_GT(rest(), before + seconds(3)) << "the others wait for it";
  scenario.turns = false;
  std::map<std::string, Duration> warmups;
  runner.alter = [&](const TrialOrder& order, std::size_t, Trial&) {
    warmups[order.entry.contestant.name] = order.load_case.load.warmup;
  };
  scenario.rounds = 2;
  run();
  EXPECT_EQ(warmups["epoll"], seconds(4));
  EXPECT_EQ(warmups["threads"], scenario.cases.front().load.warmup);
}

TEST_F(TurnRace, EndsWhenItIsPreciseEnough) {
  scenario.rounds = 0;
  const RaceResult result = run();
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.looks, 3U);
  EXPECT_GE(result.rounds, 5U);
  EXPECT_LT(result.rounds, 20U) << "the noise of a generation is a tenth of what is asked for";
  const CaseResult& one = result.cases.front();
  ASSERT_FALSE(one.looks_taken.empty());
  const TakenLook& last = one.looks_taken.back();
  EXPECT_TRUE(last.precise);
  EXPECT_EQ(last.look, one.look);
  EXPECT_EQ(last.rounds, result.rounds);
  EXPECT_EQ(last.ranking.pairs.front().ratio.estimate, one.ranking.pairs.front().ratio.estimate);
  EXPECT_EQ(last.costs.pairs.front().decision, one.costs.pairs.front().decision);
}

TEST_F(TurnRace, DoesNotEndEarlyWhileAThresholdIsNotDecided) {
  scenario.rounds = 0;
  runner.world.turn_noise = 0.01;
  const auto rounds_until_12 = [&] {
    Stop enough;
    runner.world.generations = 0;
    runner.world.alter = [&](const TrialOrder&, Trial&) {
      if (runner.world.generations == 12) enough.request();
    };
    return run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, enough).rounds;
  };
  scenario.thresholds.below = 0.9;
  EXPECT_LT(rounds_until_12(), 10U) << "decided at the first look";
  scenario.thresholds.below = 1;
  EXPECT_GE(rounds_until_12(), 11U) << "equals are on neither side of 1";
}

TEST_F(TurnRace, ALookThatIsNotPreciseIsKeptToo) {
  scenario.rounds = 0;
  runner.world.generation_noise = 0.2;
  Stop enough;
  runner.world.alter = [&](const TrialOrder&, Trial&) {
    if (runner.world.generations == 12) enough.request();
  };
  const RaceResult result =
      run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, enough);
  const std::vector<TakenLook>& looks = result.cases.front().looks_taken;
  ASSERT_EQ(looks.size(), 2U);
  EXPECT_EQ(looks[0].look, stats::Look::first);
  EXPECT_EQ(looks[0].rounds, 6U);
  EXPECT_EQ(looks[1].look, stats::Look::second);
  EXPECT_EQ(looks[1].rounds, 10U);
  EXPECT_LE(looks[0].at_s, looks[1].at_s);
  for (const TakenLook& look : looks) EXPECT_FALSE(look.precise);
}

// After few rounds an interval is narrow by chance now and then, and a difference of that size is not told.
TEST_F(TurnRace, EndsEarlyOnlyWhereADifferenceAsAskedForIsTold) {
  scenario.rounds = 0;
  runner.world.generation_noise = 0.015;
  int early = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Stop enough;  // no early look is as late as the 16th round
    runner.world.random = stats::Random(seed);
    runner.world.generations = 0;
    runner.world.alter = [&](const TrialOrder&, Trial&) {
      if (runner.world.generations == 16) enough.request();
    };
    RaceResult result =
        run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, enough);
    if (!result.complete) continue;
    judge(result);
    ++early;
    EXPECT_LE(result.cases.front().ranking.least_difference, 0.03) << "after " << result.rounds << " rounds";
    EXPECT_LE(result.cases.front().costs.least_difference, 0.03) << "after " << result.rounds << " rounds";
  }
  EXPECT_GT(early, 0);
}

// A lower bound that is known more precisely is still one.
TEST_F(TurnRace, WhereTheClientIsTheLimitCostsAreToBePrecise) {
  scenario.rounds = 0;
  scenario.time = seconds(4);
  runner.world.turn_noise = 0.01;
  runner.world.rate_noise = 0.2;
  runner.world.alter = [](const TrialOrder& order, Trial& trial) {
    if (order.entry.in_process) return;
    trial.load->set_usage({.user_s = 0.99 * trial.turns_s});
    trial.server.usage = Usage{.user_s = 0.5 * trial.turns_s};
  };
  const RaceResult result = run();
  EXPECT_TRUE(entry(result, "epoll").at_least);
  EXPECT_GE(result.rounds, 5U);
  EXPECT_LT(result.rounds, 20U);
  EXPECT_GT(result.cases.front().ranking.least_difference, 0.1) << "throughput is as noisy as it was";
}

TEST_F(TurnRace, EndsWhenItsTimeIsOver) {
  scenario.rounds = 0;
  scenario.time = milliseconds(1);
  EXPECT_EQ(run().rounds, 1U) << "the first round is always run";
}

TEST_F(TurnRace, ACaseThatIsPreciseEnoughRunsNoMore) {
  scenario.rounds = 0;
  scenario.time = seconds(4);
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().name = "noisy";
  runner.world.turn_noise = 0.01;
  runner.world.case_noise["noisy"] = 0.5;
  const RaceResult result = run();
  const std::size_t calm = find_entry(result.cases[0], "epoll")->trials.size();
  const std::size_t noisy = find_entry(result.cases[1], "epoll")->trials.size();
  EXPECT_GE(calm, 5U);
  EXPECT_LT(calm, 20U);
  EXPECT_GT(noisy, 2 * calm);
  const auto check = std::ranges::find(result.cases[0].checks, 8, &CheckResult::id);
  EXPECT_EQ(check->detail.find("rounds have a result"), std::string::npos) << check->detail;
}

// Two generations of the slow case take longer than its part of the time.
TEST_F(TurnRace, CasesShareTheTimeOfTheRace) {
  scenario.rounds = 0;
  scenario.time = milliseconds(3600);  // 1600 ms of it are for counting system calls
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().name = "slow";
  runner.world.rate_noise = runner.world.turn_noise = 0.5;
  runner.world.alter = [](const TrialOrder& order, Trial&) {
    const bool once = order.load_case.name == "slow" && order.entry.contestant.name == "epoll";
    if (once) std::this_thread::sleep_for(milliseconds(700));
  };
  const RaceResult result = run();
  const std::size_t quick = find_entry(result.cases[0], "epoll")->trials.size();
  const std::size_t slow = find_entry(result.cases[1], "epoll")->trials.size();
  EXPECT_GE(slow, 1U);
  EXPECT_GT(quick, slow);
}

// 3 % more CPU time per message, which throughput does not show.
TEST_F(TurnRace, APlantedCostIsFoundAndNeverWithTheWrongSign) {
  runner.world.cost_us = {{"threads", 5.0}, {"epoll", 5.15}};
  int found = 0;
  for (int race = 0; race < 20; ++race) {
    const RaceResult result = run();
    const Entry& dearer = entry(result, "epoll");
    const CaseResult& one = result.cases.front();
    found += one.costs.pairs.front().decision == stats::Decision::differ;
    EXPECT_GT(dearer.summary.cost_ratio->median, 1);
    EXPECT_NE(one.ranking.pairs.front().decision, stats::Decision::differ);
  }
  EXPECT_GE(found, 19);
}

TEST_F(TurnRace, EqualContestantsAreNotToldApart) {
  for (int race = 0; race < 30; ++race) {
    const CaseResult one = run().cases.front();
    EXPECT_NE(one.ranking.pairs.front().decision, stats::Decision::differ);
    EXPECT_NE(one.costs.pairs.front().decision, stats::Decision::differ);
  }
}

TEST_F(TurnRace, AServerThatWorksWhileItIsStoppedIsSeen) {
  runner.world.alter = [](const TrialOrder& order, Trial& trial) {
    if (order.entry.contestant.name == "epoll") trial.cpu_s_at_rest = 0.5;
  };
  const RaceResult result = run();
  const auto check = std::ranges::find(result.cases.front().checks, 7, &CheckResult::id);
  EXPECT_EQ(check->verdict, Verdict::warn);
  EXPECT_NE(check->detail.find("epoll: its server used"), std::string::npos) << check->detail;
}

// Races in which a turn is a number of messages or transfers.

class CountedTurnRace : public TurnRace {};

TEST_F(CountedTurnRace, ACountOfMessagesIsATurn) {
  LoadPlan& load = scenario.cases.front().load;
  load.messages = 10;
  const RaceResult result = run();
  EXPECT_EQ(runner.world.generations, 8);
  EXPECT_EQ(result.cases.front().plan.turn.unit, TurnUnit::messages);
  EXPECT_EQ(result.cases.front().plan.turn.count, 10U);
  EXPECT_GT(entry(result, "epoll").trials.front().turns.size(), 10U);
}

// Two contestants of which one needs 3 % more time for a transfer.
TEST_F(CountedTurnRace, TransfersTakeTurnsAndAreToldApart) {
  scenario.cases.front().protocol = "files";
  runner.world.rate = {{"threads", 103e3}, {"epoll", 100e3}};
  int found = 0;
  for (int race = 0; race < 20; ++race) {
    const RaceResult result = run();
    EXPECT_EQ(result.cases.front().plan.turn.unit, TurnUnit::transfers);
    EXPECT_GE(result.cases.front().plan.turn.count, 7U) << "256 connections at 100,000/s: 20 ms";
    const Entry& slower = entry(result, "epoll");
    found += result.cases.front().ranking.pairs.front().decision == stats::Decision::differ;
    EXPECT_LT(slower.summary.ratio->median, 1);
  }
  EXPECT_GE(found, 19);
}

TEST_F(CountedTurnRace, ConnectionsThatEndByThemselvesTakeNoTurns) {
  scenario.cases.front().protocol = "files";
  scenario.cases.front().options["once"] = "yes";
  run();
  EXPECT_EQ(runner.world.generations, 0);
}

TEST_F(CountedTurnRace, LongTransfersAreMeasuredInWholeTrials) {
  scenario.cases.front().protocol = "files";
  runner.world.rate = {{"threads", 256}, {"epoll", 256}};  // a second for each transfer of 256 connections
  const RaceResult result = run();
  EXPECT_EQ(runner.world.generations, 1) << "the pilot";
  EXPECT_EQ(runner.world.turns, 0);
  EXPECT_FALSE(result.cases.front().plan.load.turns);
  EXPECT_EQ(result.cases.front().plan.load.messages, 1U) << "the duration is too short for two of them";
  EXPECT_EQ(result.rounds, 8U);
  ASSERT_EQ(entry(result, "epoll").trials.size(), 8U);
  for (const Trial& trial : entry(result, "epoll").trials) EXPECT_TRUE(trial.turns.empty());
  EXPECT_TRUE(result.complete);
}

TEST_F(CountedTurnRace, WithoutTurnsThereIsNoGoal) {
  scenario.rounds = 0;
  scenario.cases.front().protocol = "files";
  scenario.cases.front().load.duration = seconds(10);
  runner.world.rate = {{"threads", 256}, {"epoll", 256}};
  const RaceResult result = run();
  EXPECT_EQ(result.looks, 1U);
  EXPECT_EQ(result.cases.front().plan.load.duration, seconds(10)) << "as long as was asked for";
}

}  // namespace
}  // namespace joust::race

// SPDX-License-Identifier: MIT
#include "race/checks_fixture.hpp"
#include "race/judgement/judge.hpp"

namespace joust::race {
namespace {

// 4

TEST_F(Checks, AReferenceThatDiffersFromItselfIsTold) {
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.kind == EntryKind::again)
      trial = flawless_trial(order, 33e3 + 50.0 * static_cast<double>(nth));
  };
  const CheckResult found = check(4);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "it seems to differ from itself")) << found.detail;
  EXPECT_GT(judged.cases.front().ranking.measure.least, 0.09);
}

TEST_F(Checks, AFailedReferenceLeavesTheNoiseUnknown) {
  plant("threads", [](Trial& trial) { trial.failure = "it hung"; });
  EXPECT_EQ(check(4).verdict, Verdict::warn);
  EXPECT_EQ(judged.cases.front().reference, "epoll") << "the others still have ratios";
  EXPECT_TRUE(entry(judged, "io-uring").summary.ratio);
}

// 5

TEST_F(Checks, AnEffectOfThePositionIsTold) {
  RaceResult result = race();
  for (Entry& each : result.cases.front().entries)
    for (Trial& trial : each.trials)
      if (trial.load) trial.load->throughput_per_s *= 1 + 0.05 * static_cast<double>(trial.position);
  const CheckResult found = check(5, std::move(result));
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "the position in the round mattered")) << found.detail;
  EXPECT_TRUE(has(found.detail, "seed 1"));
}

TEST_F(Checks, ADriftOverTheRoundsIsTold) {
  RaceResult result = race();
  for (Entry& each : result.cases.front().entries)
    for (Trial& trial : each.trials)
      if (trial.load) trial.load->throughput_per_s *= 1 - 0.03 * static_cast<double>(trial.round);
  const CheckResult found = check(5, std::move(result));
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "the round mattered")) << found.detail;
}

TEST_F(Checks, TwoRoundsShowNothingOfOrderAndDrift) {
  scenario.rounds = 2;
  const CheckResult found = check(5);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_EQ(
      found.detail,
      "nothing to check: 2 rounds measured, and it takes 3 to tell an effect from chance; random order, "
      "seed 1");
}

// 7

TEST_F(Checks, StolenTimeIsTold) {
  plant("epoll", [](Trial& trial) { trial.machine->steal_s = trial.machine->total_s() * 0.03 / 0.97; });
  const CheckResult found = check(7);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "3.0 % in the worst trial")) << found.detail;
}

TEST_F(Checks, StolenTimeIsThatOfThePinnedCpus) {
  // Of 64 CPUs two are pinned, and lose a fifth of their time: a small part of the machine.
  plant("epoll", [](Trial& trial) {
    trial.pinned = MachineCpu{.user_s = 1.6, .steal_s = 0.4};
    trial.machine = MachineCpu{.user_s = 1.6, .idle_s = 62, .steal_s = 0.4};
  });
  CheckResult found = check(7);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "of the pinned CPUs on average and 20.0 % in the worst trial"))
      << found.detail;
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) {
    trial.pinned = MachineCpu{.user_s = 2};
    trial.machine->steal_s = trial.machine->total_s();
  };
  found = check(7);
  EXPECT_EQ(found.verdict, Verdict::pass);
  EXPECT_TRUE(has(found.detail, "steal time was 0.0 % of the pinned CPUs at most")) << found.detail;
}

TEST_F(Checks, AQuotaThatRanOutIsTold) {
  plant("epoll", [](Trial& trial) { trial.throttled = Throttling{}; });
  EXPECT_EQ(check(7).verdict, Verdict::pass) << "it did not run out";
  plant("epoll", [](Trial& trial) { trial.throttled = Throttling{.times = 2, .time_s = 0.05}; });
  const CheckResult found = check(7);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "the CPU quota of the control group held up 10 trials, for 0.5 s in all"))
      << found.detail;
}

TEST_F(Checks, ChangesOfTheClockRateAreSaid) {
  plant("epoll", [](Trial& trial) { trial.clock = ClockRates{.least_mhz = 3500, .most_mhz = 3510}; });
  EXPECT_FALSE(has(check(7).detail, "clocks"));
  plant("epoll", [](Trial& trial) { trial.clock = ClockRates{.least_mhz = 2100, .most_mhz = 3500}; });
  const CheckResult found = check(7);
  EXPECT_EQ(found.verdict, Verdict::pass);
  EXPECT_TRUE(has(found.detail, "the CPUs' clocks ran at 2.10 to 3.50 GHz")) << found.detail;
}

TEST_F(Checks, AnUnreadableMachineIsTold) {
  plant("epoll", [](Trial& trial) { trial.machine.reset(); });
  EXPECT_EQ(check(7).verdict, Verdict::warn);
}

TEST_F(Checks, ServerAndClientOnOneCpuAreTold) {
  RaceResult result = race();
  EXPECT_EQ(check(7, result).verdict, Verdict::pass);
  result.cpus = {.server = "0-2", .client = "2-3,1"};
  CheckResult found = check(7, result);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "server and client share CPU 1,2:")) << found.detail;
  result.cpus = {.server = "0", .client = "any"};
  found = check(7, result);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "nothing keeps server (CPU 0) and client (any CPU) from")) << found.detail;
}

TEST_F(Checks, UnequalPlacesAreTold) {
  RaceResult result = race();
  result.cpus = {.server = "0", .client = "1", .remarks = {"both are on one core"}};
  const CheckResult found = check(7, result);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "both are on one core")) << found.detail;
}

TEST_F(Checks, AKernelThreadWithoutACpuOfItsOwnIsTold) {
  scenario.contestants[2].server.knobs["sqpoll"] = "on";
  RaceResult result = race();
  const CheckResult found = check(7, result);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "io-uring: its server has 1 CPU for 1 loop and as many")) << found.detail;
  result.cpus = {.server = "0-1", .client = "2"};
  EXPECT_EQ(check(7, result).verdict, Verdict::pass);
}

// 8

TEST_F(Checks, TooFewRoundsAreTold) {
  scenario.rounds = 3;
  const CheckResult found = check(8);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "3 rounds: so few hardly know their noise, so the intervals are wide"))
      << found.detail;
  scenario.rounds = 1;
  EXPECT_TRUE(has(check(8).detail, "1 round: nothing is told"));
  scenario.rounds = 7;
  EXPECT_EQ(check(8).verdict, Verdict::pass) << check(8).detail;
}

// Each round of one contestant is a step further from the others: rounds that follow each other are alike.
TEST_F(Checks, RoundsThatResembleTheirNeighboursAreTold) {
  scenario.rounds = 20;
  EXPECT_EQ(check(8).verdict, Verdict::pass) << check(8).detail;
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.contestant.name != "threads")
      trial.load->throughput_per_s *= 1 + 0.002 * static_cast<double>(nth);
  };
  const CheckResult found = check(8);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "successive rounds resemble each other (correlation 0.8")) << found.detail;
}

// One of them stands still in two rounds of twenty.
TEST_F(Checks, SkewedRoundsAreTold) {
  scenario.rounds = 20;
  const auto plant_stalls = [&](double left) {
    runner.alter = [left](const TrialOrder& order, std::size_t nth, Trial& trial) {
      if (order.entry.contestant.name != "epoll") return;
      trial.load->throughput_per_s *= nth % 10 == 4 ? left : 1 + 0.001 * static_cast<double>(nth % 3);
    };
    return check(8);
  };
  EXPECT_TRUE(has(plant_stalls(0.8).detail, "the rounds of epoll are skewed (-")) << check(8).detail;
  EXPECT_FALSE(has(plant_stalls(1).detail, "skewed")) << check(8).detail;
}

TEST_F(Checks, TooFewMessagesAreTold) {
  plant("epoll", [](Trial& trial) { trial.load->latency_ns = latencies({{1000, 90}}); });
  const CheckResult found = check(8);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "epoll: too few messages for a p99 latency")) << found.detail;
}

TEST_F(Checks, AWideIntervalIsTold) {
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.contestant.name == "epoll") trial = flawless_trial(order, nth % 2 == 0 ? 50e3 : 90e3);
  };
  const CheckResult found = check(8);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "the interval of epoll is wide")) << found.detail;
}

// 9

TEST_F(Checks, EqualsShareTheirPlacesAndTheFasterHasItsOwn) {
  runner.throughput["epoll"] = 30.05e3;
  const CheckResult found = check(9);
  EXPECT_EQ(found.verdict, Verdict::pass);
  EXPECT_EQ(entry(judged, "io-uring").place, (stats::Places{1, 1}));
  EXPECT_EQ(entry(judged, "epoll").place, (stats::Places{2, 3}));
  EXPECT_EQ(entry(judged, "threads").place, (stats::Places{2, 3}));
  EXPECT_TRUE(has(found.detail, "3 pairs: 2 differ, 1 equal within 3.0 %")) << found.detail;
}

TEST_F(Checks, NoiseThatHidesDifferencesIsTold) {
  runner.wobble = {0.0, 0.25, -0.2, 0.15, -0.1, 0.2, -0.25, 0.1, 0.05, -0.15};
  runner.throughput["epoll"] = 31e3;
  const CheckResult found = check(9);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "this race can see differences of about ")) << found.detail;
  EXPECT_EQ(decision(judged, "epoll", "threads"), stats::Decision::undecided);
}

// Figures of such sizes say nothing but that.
TEST_F(Checks, AbsurdSpreadsAreNotShown) {
  RaceResult result = race();
  judge(result);
  CaseResult& one = result.cases.front();
  one.ranking.least_difference = 15e6;
  EXPECT_EQ(find_check(9)->look(result, one).verdict, Verdict::warn);
  EXPECT_TRUE(
      has(find_check(9)->look(result, one).detail, "nothing can be told here: more rounds are needed"));
  one.ranking.least_difference = 15;
  EXPECT_TRUE(has(find_check(9)->look(result, one).detail, "can see differences by a factor of 16 and more"))
      << "somebody has a place";
  for (Entry& each : one.entries) each.place.reset();
  EXPECT_TRUE(
      has(find_check(9)->look(result, one).detail, "nothing can be told here: more rounds are needed"));
  for (Pair& pair : one.ranking.pairs) pair.ratio.interval = {0.001, 1e6};
  const std::string wide = find_check(8)->look(result, one).detail;
  EXPECT_TRUE(has(wide, "is wide: its ratio ± more than 100 %; more rounds narrow it")) << wide;
}

TEST_F(Checks, FromOneRoundNothingCanBeTold) {
  scenario.rounds = 1;
  EXPECT_EQ(check(9).verdict, Verdict::warn);
  EXPECT_EQ(decision(judged, "io-uring", "threads"), stats::Decision::undecided);
}

}  // namespace
}  // namespace joust::race

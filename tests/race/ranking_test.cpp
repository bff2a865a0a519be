// SPDX-License-Identifier: MIT
// Simulated races: trials with made-up figures, judged as real ones are.
#include "race/figures/ranking.hpp"
#include "race/judgement/judge.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/run/race.hpp"
#include "stats/noise.hpp"

namespace joust::race {
namespace {

using stats::Random;
using stats::noise::Shape;

constexpr Shape kShapes[] = {stats::noise::normal, stats::noise::laplace, stats::noise::heavy_tailed};

// A judged race of contestants on one engine, whose figures are then replaced.
class MadeUpRace {
 public:
  MadeUpRace(std::size_t contestants, std::uint64_t rounds) {
    Scenario scenario = fake_scenario(std::vector<std::string>(contestants, "epoll"), rounds);
    for (std::size_t i = 0; i < contestants; ++i)
      scenario.contestants[i].name = std::string("epoll ") + static_cast<char>('a' + i);
    FakeRunner runner;
    runner.otherwise = 1e5;
    runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
      if (order.entry.kind == EntryKind::ceiling) trial = flawless_trial(order, 1e6);
    };
    RaceObserver observer;
    const Stop stop;
    race_ = run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, stop);
    race_.cpus = {.server = "0", .client = "1"};
    judge(race_);
  }

  // Every trial's figure is e to the power of the noise, which is `size` as large as the shape's.
  CaseResult& fill(Shape shape, double size, Random& random) {
    for (Entry& entry : one().entries)
      for (Trial& trial : entry.trials)
        if (entry.kind != EntryKind::ceiling)
          trial.load->throughput_per_s = 1e5 * std::exp(size * shape(random));
    return one();
  }
  CaseResult& one() { return race_.cases.front(); }
  const RaceResult& race() const { return race_; }

 private:
  RaceResult race_;
};

// A part of the work of a command, such as a digest, may be done on either side.
TEST(CostOfACommand, IsThatOfBothSides) {
  Trial trial;
  trial.load.emplace();
  trial.load->duration_s = 1;
  trial.load->messages.verified = 100;
  trial.load->set_usage({.user_s = 0.1, .system_s = 0.2});
  trial.serverless = true;
  EXPECT_NEAR(command_cost(trial).value_or(0), 3000, 1e-6) << "as of cp";
  trial.serverless = false;
  EXPECT_FALSE(command_cost(trial)) << "its server's is not known";
  trial.server.usage = Usage{.user_s = 0.3, .system_s = 0.1};
  EXPECT_NEAR(command_cost(trial).value_or(0), 7000, 1e-6);
  EXPECT_NEAR(server_cost(trial).value_or(0), 4000, 1e-6);
}

const RankedBy kByThroughput{throughput, stats::Better::greater};

Ranking ranked(const CaseResult& one) {
  return rank(one, kByThroughput, {});
}

bool all_tie(const Ranking& ranking) {
  return std::ranges::none_of(ranking.comparison.pairs,
                              [](const Pair& pair) { return pair.decision == stats::Decision::differ; });
}

stats::Decision decision(const CaseResult& one, const Ranking& ranking, std::size_t a, std::size_t b) {
  return ranking.comparison.of(one.entries[a].contestant.name, one.entries[b].contestant.name)->decision;
}

class IdenticalContestants : public testing::TestWithParam<double> {};

TEST_P(IdenticalContestants, DifferInAtMostOneRaceOfAHundred) {
  constexpr int kRaces = 300;
  Random random(11);
  int races = 0, all_told = 0;
  for (std::uint64_t rounds = 6; rounds <= 12; ++rounds) {
    MadeUpRace race(5, rounds);
    ASSERT_EQ(ranked(race.one()).comparison.pairs.size(), 10u);
    for (const Shape shape : kShapes) {
      int told = 0;
      for (int i = 0; i < kRaces; ++i) told += all_tie(ranked(race.fill(shape, GetParam(), random))) ? 0 : 1;
      EXPECT_LE(told, kRaces / 100 + 5) << rounds << " rounds";  // a chance in thousands at one per cent
      all_told += told;
      races += kRaces;
    }
  }
  EXPECT_LE(all_told, races / 100);
}

INSTANTIATE_TEST_SUITE_P(Noise, IdenticalContestants, testing::Values(0.01, 0.03, 0.10));

TEST(Judge, TellsNoneOfFiveIdenticalContestantsApart) {
  constexpr int kRaces = 60;
  Random random(12);
  MadeUpRace race(5, 10);
  int told = 0;
  std::string last;
  for (int i = 0; i < kRaces; ++i) {
    race.fill(stats::noise::laplace, 0.05, random);
    RaceResult result = race.race();
    judge(result);
    const std::string& verdict = result.cases.front().verdict;
    told += verdict.starts_with("No difference found") || verdict.contains("equal") ? 0 : 1;
    last = verdict;
  }
  EXPECT_LE(told, 1) << last;
}

// With noise of 1 % in each ratio.
double found(std::size_t contestants, std::uint64_t rounds, double difference, Random& random) {
  constexpr int kRaces = 400;
  MadeUpRace race(contestants, rounds);
  int found = 0;
  for (int i = 0; i < kRaces; ++i) {
    CaseResult& one = race.fill(stats::noise::normal, 0.01 / std::sqrt(2.0), random);
    for (Trial& trial : one.entries[1].trials) trial.load->throughput_per_s *= 1 + difference;
    const Ranking ranking = ranked(one);
    found += decision(one, ranking, 1, 0) == stats::Decision::differ && ranking.ranks[1].ratio->median > 1;
  }
  return found / double{kRaces};
}

TEST(Power, ADifferenceOfThreePerCentIsFoundInNineteenOfTwentyRaces) {
  Random random(13);
  for (std::uint64_t rounds = 8; rounds <= 12; ++rounds)
    for (const std::size_t contestants : {2, 5})
      EXPECT_GE(found(contestants, rounds, 0.03, random), 0.95) << contestants << ", " << rounds;
}

TEST(Power, HalfOfTheFloorIsHardlyEverFound) {
  Random random(14);
  EXPECT_LE(found(2, 12, stats::Measure().least / 2, random), 0.01);
}

// The reference runs twice in a round, so ratios to it have less noise than others.
TEST(Ranking, OfTheReferenceUsesBothOfItsEntries) {
  MadeUpRace race(3, 40);
  Random random(16);
  double to_reference = 0, to_others = 0;
  for (int i = 0; i < 20; ++i) {
    const CaseResult& one = race.fill(stats::noise::normal, 0.02, random);
    const Ranking ranking = ranked(one);
    const auto width = [&](const char* a, const char* b) {
      const stats::Interval& interval = ranking.comparison.of(a, b).value().ratio.interval;
      return std::log(interval.high / interval.low);
    };
    to_reference += width("epoll b", "epoll a") + width("epoll c", "epoll a");
    to_others += 2 * width("epoll c", "epoll b");
  }
  EXPECT_NEAR(to_reference / to_others, std::sqrt(0.75), 0.05) << "1/2 + 1 of the variance in place of 1 + 1";
}

TEST(Ranking, OfCostsHasTheSmallestFirst) {
  MadeUpRace race(3, 10);
  Random random(15);
  CaseResult& one = race.fill(stats::noise::normal, 0.005, random);
  for (Trial& trial : one.entries[2].trials) trial.load->throughput_per_s *= 2;
  const auto cost = [](const Trial& trial) { return std::optional(1e6 / trial.load->throughput_per_s); };
  const Ranking ranking = rank(one, {cost, stats::Better::smaller}, {});
  EXPECT_EQ(ranking.ranks[2].place, (stats::Places{1, 1}));
  EXPECT_EQ(ranking.ranks[0].place, (stats::Places{2, 3}));
  EXPECT_NEAR(ranking.ranks[2].ratio->median, 0.5, 0.01);
}

// Bounds have no place, and tell a difference only where it can but grow. Others have their places behind one
// that is greater, and perhaps behind one that is smaller.
TEST(Ranking, OfBoundsTellsWhatTheyProve) {
  MadeUpRace race(4, 10);
  Random random(18);
  CaseResult& one = race.fill(stats::noise::normal, 0.005, random);
  for (Trial& trial : one.entries[1].trials) trial.load->throughput_per_s *= 2;
  for (Trial& trial : one.entries[2].trials) trial.load->throughput_per_s /= 2;
  one.entries[1].at_least = one.entries[2].at_least = true;
  Ranking ranking = ranked(one);
  EXPECT_EQ(ranking.ranks[0].place, (stats::Places{2, 4}));
  EXPECT_EQ(ranking.ranks[3].place, (stats::Places{2, 4}));
  EXPECT_FALSE(ranking.ranks[1].place);
  EXPECT_FALSE(ranking.ranks[2].place);
  EXPECT_EQ(decision(one, ranking, 1, 0), stats::Decision::differ) << "a bound above a figure is faster";
  EXPECT_EQ(decision(one, ranking, 2, 0), stats::Decision::undecided) << "a bound below may be faster too";
  EXPECT_EQ(decision(one, ranking, 3, 0), stats::Decision::equal);
  EXPECT_EQ(ranking.comparison.pairs.size(), 6u) << "what bounds prove is a comparison too";

  one.entries[1].at_least = one.entries[2].at_least = false;
  one.entries[0].at_least = true;
  ranking = ranked(one);
  EXPECT_EQ(decision(one, ranking, 1, 0), stats::Decision::undecided) << "the reference may be as fast";
  EXPECT_EQ(decision(one, ranking, 2, 0), stats::Decision::differ);
  EXPECT_EQ(decision(one, ranking, 3, 0), stats::Decision::undecided) << "no bound is equal to anything";
  const Ranking by_cost = rank(one, {throughput, stats::Better::smaller}, {});
  EXPECT_EQ(by_cost.ranks[0].place, (stats::Places{2, 3})) << "costs are figures";
}

TEST(Ranking, OfBoundsAloneKnowsItsNoise) {
  MadeUpRace race(3, 10);
  Random random(19);
  CaseResult& one = race.fill(stats::noise::normal, 0.005, random);
  for (Entry& entry : one.entries) entry.at_least = entry.is_contestant();
  const Ranking ranking = ranked(one);
  EXPECT_TRUE(std::isfinite(ranking.comparison.least_difference));
  for (const Ranking::Rank& rank : ranking.ranks) EXPECT_FALSE(rank.place);
  EXPECT_TRUE(all_tie(ranking));
}

TEST(Judge, ComparesLatenciesWithinRounds) {
  MadeUpRace race(3, 10);
  Random random(18);
  RaceResult result = race.race();
  for (Entry& entry : result.cases.front().entries)
    for (Trial& trial : entry.trials) {
      const double round = 1 + 0.1 * static_cast<double>(trial.round);  // what a whole round has in common
      const double median_ns = 1e5 * round * std::exp(0.01 * stats::noise::normal(random));
      const auto p50 = static_cast<std::uint64_t>(median_ns);
      trial.load->latency_ns =
          latencies({{p50, 900}, {p50 * (entry.contestant.name == "epoll b" ? 6 : 4), 100}});
    }
  judge(result);
  const LatencyEstimates& ratio = find_entry(result.cases.front(), "epoll b")->summary.latency_ratio;
  ASSERT_TRUE(ratio.p50 && ratio.p99);
  EXPECT_TRUE(ratio.p50->interval.contains(1));
  EXPECT_NEAR(ratio.p99->median, 1.5, 0.03);
  EXPECT_LT(ratio.p99->interval.width(), 0.1) << "what rounds have in common cancels out";
  EXPECT_EQ(ratio.p99->confidence, stats::kTogether);
  EXPECT_FALSE(ratio.p999) << "no trial has enough samples for it";
}

TEST(Ranking, TheSecondEntryStandsAlone) {
  MadeUpRace race(3, 10);
  Random random(16);
  const CaseResult& one = race.fill(stats::noise::normal, 0.01, random);
  const Ranking ranking = ranked(one);
  EXPECT_EQ(ranking.comparison.pairs.size(), 3u);
  const auto& itself = ranking.comparison.itself;
  ASSERT_TRUE(itself);
  for (std::size_t i = 0; i < one.entries.size(); ++i)
    if (one.entries[i].kind == EntryKind::again) {
      EXPECT_EQ(ranking.ranks[i].ratio->interval, itself->interval);
    }
}

// The leader's interval is wide: it ties with everybody, and those who follow it are told apart nevertheless.
TEST(Ranking, ANoisyLeaderMergesNobody) {
  MadeUpRace race(3, 12);
  Random random(20);
  CaseResult& one = race.fill(stats::noise::normal, 0.004, random);
  for (Trial& trial : one.entries[1].trials) trial.load->throughput_per_s *= 0.95;
  for (Trial& trial : one.entries[2].trials)
    trial.load->throughput_per_s *= 1.02 * std::exp(0.15 * stats::noise::normal(random));
  const Ranking ranking = ranked(one);
  EXPECT_EQ(ranking.ranks[0].place->first, 1);
  EXPECT_EQ(ranking.ranks[0].place->last, 2);
  EXPECT_EQ(ranking.ranks[1].place->first, 2);
  EXPECT_EQ(ranking.ranks[2].place, (stats::Places{1, 3}));
}

TEST(Ranking, AReferenceThatDiffersFromItselfWidensTheLeastDifference) {
  MadeUpRace race(3, 10);
  Random random(17);
  CaseResult& one = race.fill(stats::noise::normal, 0.002, random);
  EXPECT_FALSE(ranked(one).comparison.reference_differs);
  for (Entry& entry : one.entries)
    if (entry.kind == EntryKind::again)
      for (Trial& trial : entry.trials) trial.load->throughput_per_s *= 1.05;
  for (Trial& trial : one.entries[2].trials) trial.load->throughput_per_s *= 1.04;
  const Ranking ranking = ranked(one);
  EXPECT_TRUE(ranking.comparison.reference_differs);
  EXPECT_GT(ranking.comparison.measure.least, 0.045);
  EXPECT_EQ(ranking.ranks[2].place, (stats::Places{1, 3})) << "the machine makes greater differences";
}

}  // namespace
}  // namespace joust::race

// SPDX-License-Identifier: MIT
// Simulated races: how often equals are told apart, how often differences are found, and how often all
// intervals of a race hold. Each promise is simulated with noise of several shapes, also with contestants
// that are much noisier than the others.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "stats/comparison.hpp"
#include "stats/noise.hpp"
#include "stats/summary.hpp"

namespace joust::stats {
namespace {

constexpr double kSpread = 0.015;  // of one contestant's figure
constexpr noise::Shape kShapes[] = {noise::normal, noise::laplace, noise::skewed, noise::heavy_tailed};

// The figures of contestants with these levels and spreads. `twice`: the first one is the mean of two
// entries.
std::vector<Rounds> race(const std::vector<double>& levels, const std::vector<double>& spreads,
                         std::size_t rounds, noise::Shape shape, Random& random, bool twice = false) {
  std::vector<Rounds> figures(levels.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    const double common = std::exp(0.1 * noise::normal(random));
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const double noise = i == 0 && twice ? std::midpoint(shape(random), shape(random)) : shape(random);
      figures[i].emplace_back(common * levels[i] * std::exp(spreads[i] * noise));
    }
  }
  return figures;
}

// Returns whether any two are told apart.
bool any_told(const Comparisons& ratios) {
  for (std::size_t a = 0; a < ratios.contestants(); ++a)
    for (std::size_t b = a + 1; b < ratios.contestants(); ++b)
      if (is_told(ratios.of(a, b))) return true;
  return false;
}

TEST(Errors, EqualsAreToldApartInAtMostOneRaceOfAHundred) {
  Random random(21);
  constexpr int kRaces = 1000;
  int told = 0, races = 0;
  for (const std::size_t contestants : {2, 3, 5})
    for (const std::size_t rounds : {2, 3, 6, 12, 24})
      for (const noise::Shape shape : kShapes) {
        int here = 0;
        for (int i = 0; i < kRaces; ++i)
          here +=
              any_told(Comparisons(race(std::vector<double>(contestants, 1),
                                        std::vector<double>(contestants, kSpread), rounds, shape, random)));
        EXPECT_LE(here, 22) << contestants << " contestants, " << rounds << " rounds";
        told += here, races += kRaces;
      }
  EXPECT_LE(told, races / 100);
}

// Contestants that differ in noise are where borrowed variances could mislead.
TEST(Errors, ANoisyContestantIsNotToldApartEither) {
  Random random(22);
  constexpr int kRaces = 2000;
  for (const std::vector<double>& times : {std::vector<double>{1, 1, 1, 1, 5},
                                           {1, 1, 1, 3, 3},
                                           {1, 1, 4},
                                           {1, 1, 1, 2},
                                           {1, 1, 1, 1, 2},
                                           {1, 1.5, 2, 2.5, 3}})
    for (const std::size_t rounds : {2, 4, 6, 12})
      for (const noise::Shape shape : {noise::normal, noise::laplace, noise::heavy_tailed}) {
        std::vector<double> spreads;
        for (const double each : times) spreads.push_back(kSpread * each);
        int told = 0;
        for (int i = 0; i < kRaces; ++i)
          told += any_told(
              Comparisons(race(std::vector<double>(times.size(), 1), spreads, rounds, shape, random, true)));
        EXPECT_LE(told, kRaces * 18 / 1000) << times.size() << " contestants, " << rounds << " rounds";
      }
}

// A race that looks twice before its end, and ends as soon as something is told.
TEST(Errors, LookingEarlyDoesNotTellEqualsApart) {
  Random random(23);
  constexpr int kRaces = 4000;
  for (const std::vector<double>& spreads : {std::vector<double>(3, kSpread),
                                             std::vector<double>(5, kSpread),
                                             {kSpread, kSpread, kSpread, 2 * kSpread}}) {
    int told = 0;
    for (int i = 0; i < kRaces; ++i) {
      const auto figures =
          race(std::vector<double>(spreads.size(), 1), spreads, 14, noise::normal, random, true);
      bool any = false;
      for (const auto& [rounds, look] : {std::pair{6, Look::first}, {10, Look::second}, {14, Look::last}}) {
        std::vector<Rounds> so_far = figures;
        for (Rounds& each : so_far) each.resize(static_cast<std::size_t>(rounds));
        any |= any_told(Comparisons(so_far, look));
      }
      told += any;
    }
    EXPECT_LE(told, kRaces * 13 / 1000) << spreads.size();
  }
}

// By the pairs' variances together, where they are alike.
TEST(Power, ThreePerCentAmongFiveAreFoundInAThirdOfRacesOfSixRounds) {
  Random random(28);
  constexpr int kRaces = 4000;
  int found = 0, of_twelve = 0;
  const std::vector<double> levels = {1, 1, 1, 1, 1.03}, spreads(5, kSpread);
  for (int i = 0; i < kRaces; ++i) {
    found += is_told(Comparisons(race(levels, spreads, 6, noise::normal, random, true)).of(4, 0));
    of_twelve += is_told(Comparisons(race(levels, spreads, 12, noise::normal, random, true)).of(4, 0));
  }
  EXPECT_GE(found, kRaces * 31 / 100) << "33 %, less what 4,000 races may be off by chance";
  EXPECT_GE(of_twelve, kRaces * 90 / 100) << "92 %";
}

TEST(Power, ThreePerCentAmongFiveAreFoundInThreeOfFourRaces) {
  Random random(24);
  constexpr int kRaces = 4000;
  int found = 0;
  double estimates = 0;
  for (int i = 0; i < kRaces; ++i) {
    const Comparisons ratios(
        race({1, 1, 1, 1, 1.03}, std::vector<double>(5, kSpread), 12, noise::normal, random));
    const Ratio ratio = ratios.of(4, 0);
    if (!is_told(ratio)) continue;
    EXPECT_GT(ratio.estimate, 1) << "the wrong way round";
    ++found;
    estimates += std::log(ratio.estimate);
  }
  EXPECT_GE(found, kRaces * 74 / 100) << "75 %, less what 4,000 races may be off by chance";
  EXPECT_LT(estimates / found, 1.10 * std::log(1.03)) << "told differences are not inflated";
}

TEST(Coverage, AllIntervalsOfARaceHoldTogether) {
  Random random(25);
  constexpr int kRaces = 2000;
  const std::vector<double> levels = {1, 1.02, 1.1, 0.7};
  for (const noise::Shape shape : kShapes)
    for (const std::size_t rounds : {5, 6, 12}) {
      int held = 0;
      const double more = rounds == 6 ? 1.7 : 1;  // hardly to be told from alike
      for (int i = 0; i < kRaces; ++i) {
        const Comparisons ratios(
            race(levels, {kSpread, kSpread, more * kSpread, kSpread}, rounds, shape, random));
        bool all = true;
        for (std::size_t a = 0; a < levels.size(); ++a)
          for (std::size_t b = a + 1; b < levels.size(); ++b)
            all &= ratios.of(a, b).interval.contains(levels[a] / levels[b]);
        held += all;
      }
      EXPECT_GE(held, kRaces * 94 / 100) << rounds << " rounds";
    }
}

// Few rounds with an expected variance: what is expected is the mean of ten turns, times 1.5.
TEST(Errors, AnExpectedNoiseTellsNoEqualsApartAndIntervalsHold) {
  Random random(27);
  constexpr int kRaces = 2000;
  constexpr std::size_t kTurns = 10;
  for (const noise::Shape shape : kShapes)
    for (const std::size_t rounds : {1, 2, 3}) {
      int told = 0, held = 0, found = 0;
      for (int i = 0; i < kRaces; ++i) {
        std::vector<Rounds> figures(2), slower(2);
        std::vector<double> variances;
        for (std::size_t round = 0; round < rounds; ++round) {
          std::vector<double> turns;
          for (std::size_t turn = 0; turn < kTurns; ++turn) turns.push_back(0.03 * shape(random));
          variances.push_back(variance(turns) / kTurns);
          const double ratio = std::exp(mean(turns));
          figures[0].emplace_back(1), slower[0].emplace_back(1);
          figures[1].emplace_back(ratio), slower[1].emplace_back(0.9 * ratio);
        }
        const std::vector<std::optional<double>> expected{2.25 * mean(variances)};
        const Ratio equal = Comparisons(figures, Look::last, expected).of(0, 1);
        told += is_told(equal), held += equal.interval.contains(1);
        found += is_told(Comparisons(slower, Look::last, expected).of(0, 1));
      }
      EXPECT_LE(told, kRaces / 100) << rounds;
      EXPECT_GE(held, kRaces * 95 / 100) << rounds;
      EXPECT_GE(found, kRaces * 85 / 100) << rounds << ", 10 % slower";
    }
}

TEST(Errors, AnExpectedNoiseOfManyRoundsIsNotAsked) {
  const std::vector<Rounds> four{{1, 1.1, 1, 1.05}, {1, 1, 1, 1}};
  const std::vector<std::optional<double>> expected{1e-8};
  EXPECT_EQ(Comparisons(four, Look::last, expected).of(0, 1), Comparisons(four).of(0, 1));
  const std::vector<Rounds> one{{1.1}, {1}};
  EXPECT_TRUE(Comparisons(one, Look::last, expected).of(0, 1).is_known());
  EXPECT_FALSE(Comparisons(one).of(0, 1).is_known());
}

// A true difference that counts is never called equal more often than the intervals allow.
TEST(Errors, ADifferenceOfMoreThanTheRangeIsNotCalledEqual) {
  Random random(26);
  constexpr int kRaces = 3000;
  int equal = 0;
  for (int i = 0; i < kRaces; ++i) {
    const Comparisons ratios(race({1, 1.03}, {kSpread / 3, kSpread / 3}, 10, noise::normal, random));
    equal += decide(ratios.of(1, 0), {.least = 0.05, .equal = 0.03}) == Decision::equal;
  }
  EXPECT_LE(equal, kRaces * 4 / 100);
}

}  // namespace
}  // namespace joust::stats

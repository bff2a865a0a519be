// SPDX-License-Identifier: MIT
// Simulations: how often intervals contain the true value, against the coverage that they state.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "stats/intervals.hpp"
#include "stats/noise.hpp"

namespace joust::stats {
namespace {

constexpr int kSamples = 6'000;
constexpr double kHalfAPoint = 0.005;

// The noise of round `i` of `n` in two contestants, and the conditions both have in common.
struct Conditions {
  const char* name;
  noise::Shape shape;
  double drift;         // of one figure's level over the rounds, in standard deviations
  double common_drift;  // of both contestants' level
  double growth;        // the last round's noise is so many times the first one's
};

constexpr Conditions kConditions[] = {{"normal", noise::normal, 0, 0, 1},
                                      {"Laplace", noise::laplace, 0, 0, 1},
                                      {"skewed", noise::skewed, 0, 0, 1},
                                      {"drifting", noise::normal, 0.5, 20, 3}};

struct Held {
  int median = 0, centre = 0;
};

Held simulate(const Conditions& conditions, std::size_t n, Random& random) {
  Held held;
  const Place place = place_of_centre(n, 0.95);
  std::vector<double> figures(n), differences(n);
  for (int sample = 0; sample < kSamples; ++sample) {
    for (std::size_t i = 0; i < n; ++i) {
      const double progress = static_cast<double>(i) / static_cast<double>(n - 1);
      const double size = 1 + (conditions.growth - 1) * progress;
      const double one = size * conditions.shape(random), other = size * conditions.shape(random);
      figures[i] = one + conditions.drift * (progress - 0.5);
      const double level = conditions.common_drift * progress;
      differences[i] = (level + one) - (level + other);
    }
    held.median += median_with_interval(figures, 0.95).interval.contains(0) ? 1 : 0;
    held.centre += centre(differences, place).interval.contains(0) ? 1 : 0;
  }
  return held;
}

// By how much more often than stated: sums over several simulations with kSamples each.
struct Excess {
  double median = 0, centre = 0;
  int simulations = 0;

  void add(const Held& held, std::size_t n) {
    median += held.median / double{kSamples} - place_of_median(n, 0.95).coverage;
    centre += held.centre / double{kSamples} - place_of_centre(n, 0.95).coverage;
    ++simulations;
  }
  void expect_below(double limit) const {
    EXPECT_NEAR(median / simulations, 0, limit);
    EXPECT_NEAR(centre / simulations, 0, limit);
  }
};

// One simulation is off by up to a point by chance: 0.28 is the standard deviation.
TEST(Coverage, IsWithinHalfAPointOfWhatIsStated) {
  Random random(2026);
  std::map<std::string, Excess> by_noise;
  for (std::size_t n = 5; n <= 30; ++n) {
    Excess here;
    for (const Conditions& conditions : kConditions) {
      SCOPED_TRACE(testing::Message() << n << " rounds, " << conditions.name);
      const Held held = simulate(conditions, n, random);
      Excess alone;
      for (Excess* const each : {&alone, &here, &by_noise[conditions.name]}) each->add(held, n);
      alone.expect_below(2.5 * kHalfAPoint);
    }
    SCOPED_TRACE(testing::Message() << n << " rounds");
    here.expect_below(kHalfAPoint);
  }
  for (const auto& [name, excess] : by_noise) {
    SCOPED_TRACE(name);
    excess.expect_below(kHalfAPoint / 2);
  }
}

}  // namespace
}  // namespace joust::stats

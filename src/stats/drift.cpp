// SPDX-License-Identifier: MIT
#include "stats/drift.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "stats/random.hpp"
#include "stats/summary.hpp"

namespace joust::stats {
namespace {

using Key = std::size_t Observation::*;

// The indices of the observations that share a contestant, round or position.
using Groups = std::vector<std::vector<std::size_t>>;

Groups grouped(std::span<const Observation> race, Key key) {
  std::map<std::size_t, std::vector<std::size_t>> by_key;
  for (std::size_t i = 0; i < race.size(); ++i) by_key[race[i].*key].push_back(i);
  Groups groups;
  for (auto& [value, members] : by_key) groups.push_back(std::move(members));
  return groups;
}

std::vector<double> picked(std::span<const double> values, std::span<const std::size_t> indices) {
  std::vector<double> some;
  for (const std::size_t i : indices) some.push_back(values[i]);
  return some;
}

// Returns the logarithm of each figure, less the mean of its contestant.
std::vector<double> rests_of(std::span<const Observation> race) {
  std::vector<double> rests;
  for (const Observation& one : race) rests.push_back(std::log(one.figure));
  for (const auto& members : grouped(race, &Observation::contestant)) {
    const double own = mean(picked(rests, members));
    for (const std::size_t i : members) rests[i] -= own;
  }
  return rests;
}

double spread_of_means(std::span<const double> rests, const Groups& places) {
  std::vector<double> means;
  for (const auto& members : places) means.push_back(std::exp(mean(picked(rests, members))));
  return means.empty() ? 0 : relative_spread(means);
}

void shuffle_within(const Groups& groups, std::vector<double>& values, Random& random) {
  for (const auto& members : groups) {
    std::vector<double> some = picked(values, members);
    shuffle(some, random);
    for (std::size_t i = 0; i < members.size(); ++i) values[members[i]] = some[i];
  }
}

Effect effect_of(std::span<const Observation> race, Key place, Key shuffled_within, std::uint64_t seed,
                 double least) {
  const Groups places = grouped(race, place), blocks = grouped(race, shuffled_within);
  std::vector<double> rests = rests_of(race);
  const double spread = spread_of_means(rests, places);
  if (spread <= least) return {spread, 1};
  // Sums of the same numbers in another order differ in their last digits. This is not a difference.
  const double as_much = spread - 1e-12 * (1 + spread);
  Random random(seed);
  std::size_t reached = 1;  // the race itself is one of the orders chance could have given
  for (std::size_t i = 0; i < kPermutations; ++i) {
    shuffle_within(blocks, rests, random);
    reached += spread_of_means(rests, places) >= as_much ? 1 : 0;
  }
  return {spread, static_cast<double>(reached) / static_cast<double>(kPermutations + 1)};
}

}  // namespace

double change_between_halves(std::span<const double> series) {
  const std::size_t half = series.size() / 2;
  return median(series.last(half)) / median(series.first(half)) - 1;
}

Line least_squares(std::span<const double> series) {
  const auto last_step = static_cast<double>(series.size()) - 1;
  const double middle = last_step / 2, level = mean(series);
  double together = 0, steps = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double step = static_cast<double>(i) - middle;
    together += step * (series[i] - level);
    steps += step * step;
  }
  if (steps == 0) return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  const double slope = together / steps;
  return {slope, slope * last_step / level};
}

std::optional<double> lag_one_correlation(std::span<const double> series) {
  if (series.size() < 4) return std::nullopt;
  const double middle = mean(series);
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    squares += (series[i] - middle) * (series[i] - middle);
    if (i > 0) products += (series[i] - middle) * (series[i - 1] - middle);
  }
  if (squares <= 0) return std::nullopt;
  return products / squares + 1 / static_cast<double>(series.size());
}

Effect position_effect(std::span<const Observation> race, std::uint64_t seed, double least) {
  return effect_of(race, &Observation::position, &Observation::round, seed, least);
}

Effect carry_over_effect(std::span<const Observation> race, std::uint64_t seed, double least) {
  return effect_of(race, &Observation::position, &Observation::contestant, seed, least);
}

Effect round_effect(std::span<const Observation> race, std::uint64_t seed, double least) {
  return effect_of(race, &Observation::round, &Observation::contestant, seed, least);
}

}  // namespace joust::stats

// SPDX-License-Identifier: MIT
#include "stats/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "stats/intervals.hpp"
#include "stats/summary.hpp"

namespace joust::stats {

namespace {

std::optional<double> positive_figure(const Rounds& rounds, std::size_t round) {
  return round < rounds.size() && rounds[round] > 0.0 ? rounds[round] : std::nullopt;
}

// The logarithms of a pair's ratios.
struct Sample {
  double mean = 0, variance = 0;
  std::size_t rounds = 0, left_out = 0;
  std::size_t degrees = 0;  // of freedom, of the variance; 0: not known
  bool is_drawn = false;    // towards the expected variance

  double standard_error() const { return std::sqrt(variance / static_cast<double>(rounds)); }
};

Sample sample_of(const LogRatios& ratios) {
  const std::vector<double> logs = known(ratios);
  Sample sample{.mean = mean(logs), .rounds = logs.size(), .left_out = ratios.size() - logs.size()};
  if (sample.rounds < 2) return sample;
  sample.degrees = sample.rounds - 1;
  sample.variance = variance(logs);
  return sample;
}

// Draws the variance of few rounds towards the expected one.
void draw(Sample& sample, const std::optional<double>& expected) {
  if (!expected || sample.rounds == 0 || sample.rounds > Comparisons::kFewRounds) return;
  const auto own = static_cast<double>(sample.degrees);
  const auto drawn = static_cast<double>(Comparisons::kOfExpected);
  sample.variance = (own * sample.variance + drawn * *expected) / (own + drawn);
  sample.degrees += Comparisons::kOfExpected;
  sample.is_drawn = true;
}

// Draws each variance towards the geometric mean of all.
void borrow(std::vector<Sample>& samples) {
  std::vector<double> logarithms, by_chance;
  std::size_t fewest = Comparisons::kRoundsOfAlike, pairs = 0;
  for (const Sample& sample : samples) {
    if (sample.rounds == 0) continue;
    ++pairs;
    fewest = std::min(fewest, sample.rounds);
    if (sample.variance == 0) continue;
    logarithms.push_back(std::log(sample.variance) - mean_log_variance(sample.degrees));
    by_chance.push_back(variance_of_log_variance(sample.degrees));
  }
  if (logarithms.empty()) return;
  const double common = std::exp(mean(logarithms));
  const bool may_look_alike = pairs >= Comparisons::kPairsOfAlike && fewest == Comparisons::kRoundsOfAlike;
  const bool is_alike = may_look_alike && logarithms.size() > 1 && variance(logarithms) <= mean(by_chance);
  const std::size_t weight = is_alike ? Comparisons::kBorrowedAlike : Comparisons::kBorrowed;
  for (Sample& sample : samples) {
    if (sample.degrees < 2 || sample.is_drawn) continue;
    const auto own = static_cast<double>(sample.degrees), borrowed = static_cast<double>(weight);
    sample.variance = (own * sample.variance + borrowed * common) / (own + borrowed);
    sample.degrees += weight;
  }
}

// Returns which numbers of pairs can be equal among so many contestants: a set of n equal ones has
// n(n-1)/2 equal pairs.
std::vector<bool> possible_equal_pairs(std::size_t contestants) {
  std::vector<std::vector<bool>> of_first;  // by the number of contestants
  for (std::size_t count = 0; count <= contestants; ++count) {
    std::vector<bool> possible(count * count / 2 + 1, false);
    possible[0] = true;
    for (std::size_t set = 2; set <= count; ++set) {
      const std::vector<bool>& others = of_first[count - set];
      for (std::size_t pairs = 0; pairs < others.size(); ++pairs)
        if (others[pairs]) possible[pairs + set * (set - 1) / 2] = true;
    }
    of_first.push_back(std::move(possible));
  }
  return of_first.back();
}

double chance_of(const Sample& sample) {
  if (sample.degrees == 0 || sample.mean == 0) return 1;
  return sample.variance > 0
             ? student_two_sided(std::abs(sample.mean) / sample.standard_error(), sample.degrees)
             : 0;
}

std::vector<LogRatios> of_every_pair(std::span<const Rounds> contestants) {
  std::vector<LogRatios> pairs;
  for (auto one = contestants.begin(); one != contestants.end(); ++one)
    for (auto other = one + 1; other != contestants.end(); ++other) pairs.push_back(log_ratios(*one, *other));
  return pairs;
}

}  // namespace

LogRatios log_ratios(const Rounds& contestant, const Rounds& other) {
  LogRatios ratios(std::max(contestant.size(), other.size()));
  for (std::size_t round = 0; round < ratios.size(); ++round) {
    const auto one = positive_figure(contestant, round), two = positive_figure(other, round);
    if (one && two) ratios[round] = std::log(*one / *two);
  }
  return ratios;
}

std::vector<double> known(const LogRatios& ratios) {
  std::vector<double> values;
  for (const auto& ratio : ratios)
    if (ratio) values.push_back(*ratio);
  return values;
}

double share_of(Look look) {
  return look == Look::first ? 0.02 : look == Look::second ? 0.05 : 0.93;
}

Ratio inverse(Ratio ratio) {
  ratio.estimate = 1 / ratio.estimate;
  ratio.interval = {1 / ratio.interval.high, 1 / ratio.interval.low};
  return ratio;
}

Comparisons::Comparisons(std::span<const Rounds> contestants, Look look,
                         std::span<const std::optional<double>> expected)
    : Comparisons(contestants.size(), of_every_pair(contestants), look, expected) {}

Comparisons::Comparisons(std::size_t contestants, std::span<const LogRatios> pairs, Look look,
                         std::span<const std::optional<double>> expected)
    : contestants_(contestants) {
  std::vector<Sample> samples;
  for (const LogRatios& pair : pairs) {
    Sample sample = sample_of(pair);
    if (samples.size() < expected.size()) draw(sample, expected[samples.size()]);
    samples.push_back(sample);
  }
  if (contestants_ > 2) borrow(samples);

  const double each = share_of(look) / static_cast<double>(this->pairs());
  std::vector<double> chances, told;
  std::map<std::size_t, std::pair<double, double>> quantiles;  // by the degrees of freedom
  for (const Sample& sample : samples) {
    Ratio& ratio = ratios_.emplace_back(Ratio{.estimate = std::exp(sample.mean),
                                              .interval = {0, std::numeric_limits<double>::infinity()},
                                              .rounds = sample.rounds,
                                              .left_out = sample.left_out});
    chances.push_back(chance_of(sample));
    if (sample.degrees == 0) continue;
    if (!quantiles.contains(sample.degrees))
      quantiles[sample.degrees] = {student_quantile((1 - kTogether) * each, sample.degrees),
                                   student_quantile((1 - kEqualsTied) * each, sample.degrees)};
    const auto [together, tied] = quantiles[sample.degrees];
    const double width = together * sample.standard_error();
    ratio.interval = {std::exp(sample.mean - width), std::exp(sample.mean + width)};
    told.push_back(tied * sample.standard_error());
  }
  adjust(std::move(chances), look);
  least_difference_ = told.empty() ? std::numeric_limits<double>::infinity() : std::expm1(median(told));
}

std::size_t Comparisons::pairs() const {
  return std::max<std::size_t>(1, contestants_ * (contestants_ - std::min<std::size_t>(1, contestants_)) / 2);
}

// Each p-value counts as often as pairs may still be equal, when those with smaller ones are not.
void Comparisons::adjust(std::vector<double> chances, Look look) {
  const std::vector<bool> possible = possible_equal_pairs(contestants_);
  std::vector<std::size_t> order(ratios_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t pair) { return chances[pair]; });
  double greatest = 0;
  for (std::size_t step = 0; step < order.size(); ++step) {
    std::size_t equal = ratios_.size() - step;
    while (equal > 1 && !possible[equal]) --equal;
    greatest = std::max(greatest, chances[order[step]] * static_cast<double>(equal) / share_of(look));
    ratios_[order[step]].chance = std::min(1.0, greatest);
  }
}

// The pairs are in the order (0, 1), (0, 2), ..., (1, 2), ...
std::size_t Comparisons::place(std::size_t one, std::size_t other) const {
  return one * (2 * contestants_ - one - 1) / 2 + (other - one - 1);
}

Ratio Comparisons::of(std::size_t one, std::size_t other) const {
  return one < other ? ratios_[place(one, other)] : inverse(ratios_[place(other, one)]);
}

Ratio compare(const LogRatios& ratios) {
  return Comparisons(2, std::span(&ratios, 1)).of(0, 1);
}

Ratio compare(const Rounds& contestant, const Rounds& reference) {
  return compare(log_ratios(contestant, reference));
}

bool is_told(const Ratio& ratio) {
  return ratio.is_known() && ratio.chance <= 1 - kEqualsTied && !ratio.interval.contains(1);
}

Decision decide(const Ratio& ratio, const Measure& measure) {
  if (!ratio.is_known()) return Decision::undecided;
  const double difference = std::max(ratio.estimate, 1 / ratio.estimate) - 1;
  if (is_told(ratio) && difference >= measure.least) return Decision::differ;
  const bool within =
      ratio.interval.low >= 1 / (1 + measure.equal) && ratio.interval.high <= 1 + measure.equal;
  if (within) return Decision::equal;
  if (is_told(ratio)) return Decision::slight;
  return ratio.interval.contains(1) ? Decision::undecided : Decision::probable;
}

double rounds_to_rule_out(const Ratio& ratio, const Measure& measure) {
  if (!ratio.is_known()) return std::numeric_limits<double>::infinity();
  const double half_width = std::log(ratio.interval.high / ratio.interval.low) / 2;
  return std::max(1.0, std::pow(half_width / std::log1p(measure.equal), 2));
}

double aa_spread(const Ratio& reference_to_itself) {
  const Interval& ratio = reference_to_itself.interval;
  return ratio.is_known() ? std::max(ratio.high, 1 / ratio.low) - 1 : std::numeric_limits<double>::infinity();
}

std::vector<Places> places_of(std::size_t contestants,
                              const std::function<bool(std::size_t, std::size_t)>& is_better) {
  std::vector<Places> places(contestants, {.first = 1, .last = static_cast<int>(contestants)});
  for (std::size_t one = 0; one < contestants; ++one)
    for (std::size_t other = 0; other < contestants; ++other)
      if (one != other && is_better(other, one)) ++places[one].first, --places[other].last;
  return places;
}

}  // namespace joust::stats

// SPDX-License-Identifier: MIT
#include "stats/intervals.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "stats/summary.hpp"

namespace joust::stats {

double student_two_sided(double t, std::size_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const bool odd = degrees % 2 == 1;
  // The terms of the sum: each is the last one times cos^2 and a fraction, 1/2, 3/4, ... or 2/3, 4/5, ...
  double sum = 0, term = odd ? cosine : 1;
  for (std::size_t k = odd ? 3 : 2; k <= degrees; k += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
  }
  const double within = odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
  return std::clamp(1 - within, 0.0, 1.0);
}

double student_quantile(double probability, std::size_t degrees) {
  double low = 0, high = 1;
  while (student_two_sided(high, degrees) > probability && high < 1e12) low = high, high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (student_two_sided(middle, degrees) > probability ? low : high) = middle;
  }
  return high;
}

// Digamma by its recurrence up to 6, and its asymptotic series there: Abramowitz and Stegun, 6.3.5
// and 6.3.18.
double mean_log_variance(std::size_t degrees) {
  const double half = static_cast<double>(degrees) / 2;
  double x = half, digamma = 0;
  for (; x < 6; ++x) digamma -= 1 / x;
  const double square = 1 / (x * x);
  digamma += std::log(x) - 0.5 / x - square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
  return digamma - std::log(half);
}

// Trigamma by its recurrence from 1/2 or 1 on: Abramowitz and Stegun, 6.4.6 and 6.4.2.
double variance_of_log_variance(std::size_t degrees) {
  const double square = std::numbers::pi * std::numbers::pi, half = static_cast<double>(degrees) / 2;
  double trigamma = degrees % 2 == 1 ? square / 2 : square / 6;
  for (double x = degrees % 2 == 1 ? 0.5 : 1; x < half; ++x) trigamma -= 1 / (x * x);
  return trigamma;
}

namespace {

// The size of the errors of sums of probabilities.
constexpr double kRounding = 1e-12;

// Finds a place by the distribution of a statistic. `probability(k)`, called with k = 0, 1, ... in this
// order, is the probability that the statistic is k. The distribution is symmetric, so both tails are equal.
// Rank r leaves out the values below r in each tail.
template <typename Probability>
Place place_by(std::size_t most, double confidence, Probability probability) {
  double tail = probability(0);
  Place place{.rank = 1, .coverage = 1 - 2 * tail};
  for (std::size_t rank = 2; rank <= most; ++rank) {
    tail += probability(rank - 1);
    if (1 - 2 * tail < confidence - kRounding) break;
    place = {.rank = rank, .coverage = 1 - 2 * tail};
  }
  return place;
}

// Returns the probability of each value of the signed-rank statistic of n values, up to half of its greatest
// value. The statistic is the sum of the ranks 1..n, each of them taken with probability one half.
std::vector<double> signed_rank_probabilities(std::size_t n) {
  std::vector<double> probabilities(n * (n + 1) / 4 + 1);
  probabilities[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank)
    for (std::size_t sum = probabilities.size(); sum-- > 0;)
      probabilities[sum] = (probabilities[sum] + (sum >= rank ? probabilities[sum - rank] : 0)) / 2;
  return probabilities;
}

Place place_by_normal(std::size_t sample_size, double confidence) {
  const auto n = static_cast<double>(sample_size);
  const double mean = n * (n + 1) / 4, deviation = std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
  const double rank = std::floor(mean + 0.5 + normal_quantile((1 - confidence) / 2) * deviation);
  const double ends_at = (rank - 0.5 - mean) / deviation;
  return {.rank = static_cast<std::size_t>(rank), .coverage = 1 - std::erfc(-ends_at / std::sqrt(2.0))};
}

std::vector<double> walsh_averages(std::span<const double> sample) {
  std::vector<double> averages;
  averages.reserve(sample.size() * (sample.size() + 1) / 2);
  for (std::size_t i = 0; i < sample.size(); ++i)
    for (std::size_t j = i; j < sample.size(); ++j) averages.push_back((sample[i] + sample[j]) / 2);
  return averages;
}

// Returns the location for a place among the values, which it reorders.
Location location_at(const Place& place, std::vector<double>& values) {
  if (place.rank == 0) return {.estimate = median(values)};
  const auto half = static_cast<std::ptrdiff_t>(values.size() / 2);
  const auto rank = static_cast<std::ptrdiff_t>(place.rank);
  const auto middle = values.begin() + half, low = values.begin() + (rank - 1), high = values.end() - rank;
  std::ranges::nth_element(values, middle);
  const bool odd = values.size() % 2 == 1;
  const double estimate = odd ? *middle : std::midpoint(*std::max_element(values.begin(), middle), *middle);
  // The middle divides the values, so each end is searched for on its side only.
  if (low < middle) std::nth_element(values.begin(), low, middle);
  if (high > middle) std::nth_element(middle, high, values.end());
  return {.estimate = estimate, .interval = {*low, *high}, .coverage = place.coverage};
}

}  // namespace

Place place_of_median(std::size_t sample_size, double confidence) {
  assert(confidence > 0 && confidence < 1);
  if (sample_size < 2) return {};
  const auto n = static_cast<double>(sample_size);
  double logarithm = -n * std::log(2.0);  // of the probability that `below` of n values lie below the median
  return place_by(sample_size / 2, confidence, [n, logarithm](std::size_t below) mutable {
    const auto k = static_cast<double>(below);
    if (below > 0) logarithm += std::log((n - k + 1) / k);
    return std::exp(logarithm);
  });
}

Location median_with_interval(std::span<const double> sample, double confidence) {
  std::vector<double> values(sample.begin(), sample.end());
  return location_at(place_of_median(sample.size(), confidence), values);
}

Place place_of_centre(std::size_t sample_size, double confidence) {
  assert(confidence > 0 && confidence < 1);
  if (sample_size < 2) return {};
  if (sample_size > kMostExactRanks) return place_by_normal(sample_size, confidence);
  const std::vector<double> probabilities = signed_rank_probabilities(sample_size);
  return place_by(probabilities.size(), confidence, [&](std::size_t sum) { return probabilities[sum]; });
}

Location centre(std::span<const double> sample, const Place& place) {
  std::vector<double> averages = walsh_averages(sample);
  return location_at(place, averages);
}

Location widened(const Location& location, std::size_t sample_size, double confidence) {
  assert(confidence > 0 && confidence < 1);
  if (sample_size < 2 || location.coverage >= confidence - kRounding) return location;
  const double root = 1 / static_cast<double>(sample_size - 1);
  const double beyond = location.interval.width() * (std::pow(1 / (1 - confidence), root) / 2 - 1);
  const Interval wide{location.interval.low - beyond, location.interval.high + beyond};
  return {.estimate = location.estimate, .interval = wide, .coverage = confidence};
}

Location centre_with_interval(std::span<const double> sample, double confidence) {
  const Location location = centre(sample, place_of_centre(sample.size(), confidence));
  return location.coverage < confidence ? widened(location, sample.size(), confidence) : location;
}

double normal_quantile(double p) {
  assert(p > 0 && p < 1);
  double low = -40, high = 40;  // beyond these, probabilities are no longer distinct from 0 and 1
  for (int step = 0; step < 80; ++step) {
    const double middle = std::midpoint(low, high);
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < p ? low : high) = middle;
  }
  return std::midpoint(low, high);
}

}  // namespace joust::stats

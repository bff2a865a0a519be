// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace joust::stats {

// Student's t distribution with a whole number of degrees of freedom, at least 1.

// Returns the probability that |t| is at least `t`, for t >= 0. The finite sums of Abramowitz and Stegun,
// "Handbook of Mathematical Functions", 26.7.3 and 26.7.4. The absolute error is below 1e-14.
double student_two_sided(double t, std::size_t degrees);

// Returns the inverse: the t that |t| exceeds with this probability, for 0 < probability < 1.
double student_quantile(double probability, std::size_t degrees);

// Returns the mean of ln(x) for x = chi-square / degrees: by so much the logarithm of a variance of normal
// noise is too low on average. It is digamma(degrees / 2) - ln(degrees / 2).
double mean_log_variance(std::size_t degrees);

// Returns the variance of ln(x): so much do logarithms of such variances differ by chance. It is
// trigamma(degrees / 2).
double variance_of_log_variance(std::size_t degrees);

// An interval with both ends included. It is unbounded when the sample is too small for one.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool is_known() const { return width() < std::numeric_limits<double>::infinity(); }
  double width() const { return high - low; }
  bool contains(double value) const { return low <= value && value <= high; }
  bool operator==(const Interval&) const = default;
};

// An estimate of the middle of a distribution. `coverage` is the probability with which such an interval
// contains the middle: exact for every n, not asymptotic. It is 0, and the interval unbounded, for fewer than
// two values.
struct Location {
  double estimate;  // NaN for an empty sample
  Interval interval{};
  double coverage = 0;
};

// An interval whose ends are members of an ordered list of values: the `rank`th from below (from 1) and the
// `rank`th from above. Coverages are discrete. This is the narrowest interval whose coverage is at least the
// confidence asked for. If none has it, this is the widest one, with its lower coverage. Rank 0: no interval.
struct Place {
  std::size_t rank = 0;
  double coverage = 0;
};

// Locate the median of any distribution: ranks among the ordered sample, by the binomial distribution. David
// and Nagaraja, "Order Statistics", 3rd edition, 2003, section 7.1.
Place place_of_median(std::size_t sample_size, double confidence);
Location median_with_interval(std::span<const double> sample, double confidence);

// The centre of a symmetric distribution: the Hodges-Lehmann estimate, which is the median of the Walsh
// averages (x[i] + x[j]) / 2, i <= j; ranks among the ordered Walsh averages, by the distribution of
// Wilcoxon's signed-rank statistic. Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 3rd
// edition, 2014, sections 3.2 and 3.3. Each value may have a spread of its own.
//
// Differences of two values with noise of the same shape are symmetric, whatever that shape is, and what both
// have in common cancels out: so this is for the logarithms of ratios paired within rounds.
//
// Counts are exact up to kMostExactRanks values. Above, the normal approximation with continuity correction
// is used, which understates the coverage by less than 0.0004 there.
inline constexpr std::size_t kMostExactRanks = 100;
Place place_of_centre(std::size_t sample_size, double confidence);
Location centre(std::span<const double> sample, const Place& place);

// Returns the interval of centre() for a sample that may be too small for this confidence. Then the interval
// reaches beyond the sample by a share of its range. This takes one assumption more: that smaller deviations
// are more frequent than larger ones (a unimodal distribution). The coverage is then at least the confidence
// asked for, which the result has. Uniform noise attains it.
//
// The centre lies outside [min - t * range, max + t * range] only if all n deviations have the same sign, and
// the smallest is more than c = t / (1 + t) of the largest. The first has the probability 2^(1-n). Given the
// largest, each of the others is above that share of it with probability 1 - c at most, since its density
// does not increase. So the coverage is at least 1 - (2 * (1 + t))^(1-n). Compare Blachman and Machol,
// "Confidence intervals based on one or more observations", IEEE Transactions on Information Theory 33, 1987.
// The difference of two values with the same unimodal noise is unimodal: Hodges and Lehmann, "Matching in
// paired comparisons", The Annals of Mathematical Statistics 25, 1954.
Location widened(const Location& centre, std::size_t sample_size, double confidence);

// Returns the centre of a sample with an interval of this confidence: that of centre(), widened() if the
// sample is too small for it.
Location centre_with_interval(std::span<const double> sample, double confidence);

// Returns the standard normal distribution's quantile, for 0 < p < 1.
double normal_quantile(double p);

}  // namespace joust::stats

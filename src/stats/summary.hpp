// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

// Statistics of a sample of finite numbers. An empty sample has none: every result is then NaN. All of
// joust::stats is pure: no I/O, no clock, no state; any thread.
namespace joust::stats {

double mean(std::span<const double> values);

// Returns the variance of the population that the sample is from: squares divided by n - 1. NaN for fewer
// than two values.
double variance(std::span<const double> values);

// Returns the middle value, or the mean of the two middle ones.
double median(std::span<const double> values);

// Return the value that the fraction `p` (0..1) of the sample lies below, interpolated linearly between its
// members: type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician
// 50 (1996), which is also the default of R and NumPy.
double quantile(std::span<const double> values, double p);
double quantile_of_sorted(std::span<const double> ascending, double p);

// Returns by what fraction the greatest value exceeds the least: max / min - 1. For positive values.
double relative_spread(std::span<const double> values);

std::vector<double> sorted(std::span<const double> values);

}  // namespace joust::stats

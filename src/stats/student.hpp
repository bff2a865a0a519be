// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

// Student's t distribution with a whole number of degrees of freedom, at least 1.
namespace joust::stats {

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

}  // namespace joust::stats

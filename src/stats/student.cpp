// SPDX-License-Identifier: MIT
#include "stats/student.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

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

}  // namespace joust::stats

// SPDX-License-Identifier: MIT
#include "protocols/resp/zipf.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace joust::resp {
namespace {

// Returns (e^x - 1) / x, which is 1 at 0.
double slope_of_exp(double x) {
  return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2;
}

// Returns log(1 + x) / x, which is 1 at 0.
double slope_of_log(double x) {
  return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2;
}

// Returns a number of [0, 1) with 53 random bits.
double fraction(std::uint64_t random) {
  return static_cast<double>(random >> 11) * 0x1p-53;
}

}  // namespace

// Rank 1 has its own weight in place of the integral around it, which would be infinite for a large exponent.
Zipf::Zipf(std::uint64_t ranks, double exponent)
    : ranks_(static_cast<double>(ranks)),
      exponent_(exponent),
      first_(integral(1.5) - 1),
      last_(integral(ranks_ + 0.5)) {}

// A rank is taken if the number is in the part of its interval that has the rank's weight. The weight is
// convex, so that part is most of it: few numbers are rejected.
std::uint64_t Zipf::rank(std::uint64_t seed) const {
  for (;;) {
    seed += kMixStep;
    const double at = first_ + fraction(mixed(seed)) * (last_ - first_);
    const double rank = std::clamp(std::floor(rank_at(at) + 0.5), 1.0, ranks_);
    if (at >= integral(rank + 0.5) - weight(rank)) return static_cast<std::uint64_t>(rank);
  }
}

double Zipf::weight(double rank) const {
  return std::exp(-exponent_ * std::log(rank));
}

// The integral is (x^(1-s) - 1) / (1-s), and log(x) for s = 1.
double Zipf::integral(double rank) const {
  const double log = std::log(rank);
  return slope_of_exp((1 - exponent_) * log) * log;
}

double Zipf::rank_at(double integral) const {
  const double x = std::max(-1.0, integral * (1 - exponent_));
  return std::exp(slope_of_log(x) * integral);
}

}  // namespace joust::resp

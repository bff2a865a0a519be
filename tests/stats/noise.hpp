// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <numbers>

#include "stats/random.hpp"

// Noise of several shapes for simulations: median 0 and standard deviation 1, the same everywhere.
namespace joust::stats::noise {

using Shape = double (*)(Random&);

inline double uniform(Random& random) {  // between 0 and 1, without both; not of the shapes below
  return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
}

inline double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(uniform(random)));
  return radius * std::cos(2 * std::numbers::pi * uniform(random));
}

inline double laplace(Random& random) {
  const double size = -std::log(uniform(random)) / std::numbers::sqrt2;
  return random() % 2 == 0 ? size : -size;
}

// Exponential.
inline double skewed(Random& random) {
  return -std::log(uniform(random)) - std::numbers::ln2;
}

// Student's t with three degrees of freedom: one value in seventy is beyond three standard deviations.
inline double heavy_tailed(Random& random) {
  double squares = 0;
  for (int i = 0; i < 3; ++i) squares += std::pow(normal(random), 2);
  return normal(random) / std::sqrt(squares);
}

}  // namespace joust::stats::noise

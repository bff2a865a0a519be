// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace joust::resp {

// The Zipf distribution of the ranks 1 to n: rank k has a probability in proportion to k^-s. It takes no
// table: rejection from the inverse of an integral (W. Hörmann, G. Derflinger, "Rejection-inversion to
// generate variates from monotone discrete distributions", 1996). Immutable; any thread.
class Zipf {
 public:
  // ranks: at least 1; exponent: greater than 0.
  Zipf(std::uint64_t ranks, double exponent);

  // Returns a rank. The same seed gives the same rank.
  std::uint64_t rank(std::uint64_t seed) const;

 private:
  double weight(double rank) const;
  double integral(double rank) const;     // of weight()
  double rank_at(double integral) const;  // the inverse of integral()

  const double ranks_, exponent_;
  const double first_, last_;  // integrals between which a uniform number is drawn
};

}  // namespace joust::resp

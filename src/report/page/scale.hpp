// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace joust::report::page {

// Places values between two coordinates, linearly or by their logarithms.
class Scale {
 public:
  enum class Kind { linear, logarithmic };

  // Covers all the values, and a part of the range beyond them at both ends; `margin` is that part. A
  // logarithmic scale covers the positive ones only. A range of no width is widened.
  Scale(Kind kind, const std::vector<double>& values, double margin, double from, double to);

  // Returns the coordinate; values outside of the range have that of its end.
  double at(double value) const;
  bool holds(double value) const { return value >= low_ && value <= high_; }
  // Returns round values in the range, about `wanted` of them and no more than twice as many.
  std::vector<double> ticks(std::size_t wanted) const;

 private:
  double place_of(double value) const;

  Kind kind_;
  double low_ = 1, high_ = 2;  // of the values
  double from_, to_;           // of the coordinates
};

}  // namespace joust::report::page

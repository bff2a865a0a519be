// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "race/model/result.hpp"
#include "stats/intervals.hpp"

// Part of the check of the steady state: how figures change from the beginning of a trial to its end.
namespace joust::race {

// The least change between halves of a trial that counts as a trend. The mean is then off by half of it.
inline constexpr double kUnsteady = 0.04;
// The fewest trials of a contestant that show a trend.
inline constexpr std::size_t kTrialsThatShowATrend = 3;

// The cost is the server's CPU time per message; within a trial it is known in turns only.
enum class Quantity { throughput, cost };
// The shape of a change: from the first half of a trial to the second, or along a straight line from its
// beginning to its end.
enum class TrendShape { halves, slope };

// A change that recurs in the trials of one contestant, or of all of them alike.
struct Trend {
  std::string contestant{};  // empty: all contestants
  Quantity quantity = Quantity::throughput;
  TrendShape shape = TrendShape::halves;
  double change = 0;           // beyond that of the other contestants: 0.1 is a rise by 10 %
  stats::Interval interval{};  // interval of the change
};

struct Steadiness {
  std::size_t trials = 0;           // trials of the contestant with the most that can be judged
  bool several = false;             // several contestants, so that each is compared with the others
  std::vector<Trend> found{};       // at most one for each contestant
  std::optional<Trend> greatest{};  // the greatest change between halves, significant or not
};

// The parts of a trial are its turns in their order, or the tenths of its window. Every trial gives one
// change between the medians of its halves, and one along the line by least squares. The trials are the
// sample: a warm-up recurs in each of them, a change of the machine differs from one to the next. The
// estimate is that of Hodges and Lehmann, with Wilcoxon's interval (stats::centre). The machine changes for
// the other contestants of the round too, so each part is also divided by the median of their parts at the
// same place.
//
// A trend is found if the interval of the change beyond that of the others does not contain 0, and the
// estimate is above kUnsteady. All intervals of a case hold together with 99 %, so chance finds a trend in at
// most one race of a hundred. Of two contestants that drift apart, the one whose own figure changes more is
// named.
Steadiness steadiness_of(const CaseResult& one);

}  // namespace joust::race

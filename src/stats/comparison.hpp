// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stats/bootstrap.hpp"

namespace joust::stats {

// One contestant's figure by round, such as its throughput. Nothing where it was not measured. Figures are
// positive: one that is not counts as missing, as it has no ratio.
using Rounds = std::vector<std::optional<double>>;

// Contestant against reference within the same round, so that what slows a whole round cancels out.
struct PairedLogRatios {
  std::vector<double> values;  // ln(contestant / reference), one for each round that has both
  std::size_t left_out = 0;    // rounds in which either is missing
};
PairedLogRatios paired_log_ratios(std::span<const std::optional<double>> contestant,
                                  std::span<const std::optional<double>> reference);

// Contestant / reference. Logarithms make a ratio and its inverse count alike: swapping the two inverts the
// median exactly and the interval as nearly as resampling allows.
struct Ratio {
  double median;         // NaN when no round has both
  Interval interval;     // (0, infinity) when it is not known
  std::size_t rounds;    // how many it rests on
  std::size_t left_out;  // how many had to be left out

  bool is_known() const { return interval.is_known(); }
};
Ratio compare(std::span<const std::optional<double>> contestant,
              std::span<const std::optional<double>> reference, const Bootstrap& bootstrap);

}  // namespace joust::stats

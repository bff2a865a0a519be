// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stats/intervals.hpp"

namespace joust::stats {

// One contestant's figure by round, such as its throughput or its CPU time per message. Nothing for a round
// in which it was not measured. Figures are positive: a figure that is not counts as missing, because it has
// no ratio.
using Rounds = std::vector<std::optional<double>>;

// The ratios of a contestant to the reference within the same round, so that the conditions of a whole round
// cancel out.
struct PairedLogRatios {
  std::vector<double> values;  // ln(contestant / reference), one for each round that has both
  std::size_t left_out = 0;    // rounds in which either is missing
};
PairedLogRatios paired_log_ratios(std::span<const std::optional<double>> contestant,
                                  std::span<const std::optional<double>> reference);

// The probability with which all intervals of a race together contain the true ratios.
inline constexpr double kTogether = 0.95;
// The least such probability. With too few rounds for kTogether, intervals that reach this one are kept.
inline constexpr double kBarelyTogether = 0.90;

// The comparisons of every two of several contestants. Each is made with a confidence at which all hold
// together (Bonferroni). So it does not matter to which comparison the figures draw attention, such as that
// between the first and the last.
class Family {
 public:
  // `looks`: how often the race looks at the comparisons to decide whether to go on. Each look is a
  // comparison too.
  explicit Family(std::size_t contestants, std::size_t looks = 1);

  std::size_t pairs() const { return pairs_; }  // at least 1; a pair counts once for each look
  // Returns the coverage that each comparison needs for all to hold together with the probability `together`.
  double of_each(double together = kTogether) const;
  // Returns the inverse: the probability with which all hold together, at least 0.
  double together(double of_each) const;

 private:
  std::size_t pairs_;
};

// The ratio of contestant to reference. Logarithms make a ratio and its inverse count alike: swapping the two
// inverts the estimate and the interval.
struct Ratio {
  double estimate;       // Hodges-Lehmann; NaN when no round has both
  Interval interval;     // (0, infinity) when it is not known
  double coverage;       // coverage of the interval; 0 when it is not known
  std::size_t rounds;    // rounds that the ratio is computed from
  std::size_t left_out;  // rounds that were left out

  bool is_known() const { return interval.is_known(); }
};

// Compares two contestants, as one of the comparisons of a family. The interval has the coverage that this
// takes, or a coverage between kTogether and kBarelyTogether where rounds are few. With still fewer rounds
// the interval is widened to kTogether, with one assumption more (see widened()).
Ratio compare(std::span<const std::optional<double>> contestant,
              std::span<const std::optional<double>> reference, const Family& family);

}  // namespace joust::stats

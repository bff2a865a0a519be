// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stats/intervals.hpp"

namespace joust::stats {

// One contestant's figure by round, such as its throughput or its CPU time per message. Nothing where it was
// not measured. Figures are positive: one that is not counts as missing, as it has no ratio.
using Rounds = std::vector<std::optional<double>>;

// Contestant against reference within the same round, so that the conditions of a whole round cancel out.
struct PairedLogRatios {
  std::vector<double> values;  // ln(contestant / reference), one for each round that has both
  std::size_t left_out = 0;    // rounds in which either is missing
};
PairedLogRatios paired_log_ratios(std::span<const std::optional<double>> contestant,
                                  std::span<const std::optional<double>> reference);

// All intervals of a race contain the true ratios together with this probability.
inline constexpr double kTogether = 0.95;
// With fewer rounds than that takes, intervals that reach this much are kept.
inline constexpr double kBarelyTogether = 0.90;

// The comparisons of every two of several contestants. Each is made with a confidence at which all hold
// together (Bonferroni), so that it does not matter which of them the figures draw attention to, such as the
// one between the first and the last.
class Family {
 public:
  // `looks`: how often the race looks at them to decide whether to go on; each look is a comparison too.
  explicit Family(std::size_t contestants, std::size_t looks = 1);

  std::size_t pairs() const { return pairs_; }  // at least 1; a pair counts once for each look
  // The coverage that each needs for all to hold together with the probability `together`.
  double of_each(double together = kTogether) const;
  // The other way round: at least 0.
  double together(double of_each) const;

 private:
  std::size_t pairs_;
};

// Contestant / reference. Logarithms make a ratio and its inverse count alike: swapping the two inverts the
// estimate and the interval.
struct Ratio {
  double estimate;       // Hodges-Lehmann; NaN when no round has both
  Interval interval;     // (0, infinity) when it is not known
  double coverage;       // of the interval; 0 when it is not known
  std::size_t rounds;    // how many it rests on
  std::size_t left_out;  // how many had to be left out

  bool is_known() const { return interval.is_known(); }
};

// As one of the comparisons of a family. The interval has the coverage that this takes, or between kTogether
// and kBarelyTogether where rounds are few; where they are fewer, it is widened to kTogether, with one
// assumption more (see widened()).
Ratio compare(std::span<const std::optional<double>> contestant,
              std::span<const std::optional<double>> reference, const Family& family);

}  // namespace joust::stats

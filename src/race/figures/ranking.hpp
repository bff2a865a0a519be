// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "race/model/result.hpp"
#include "stats/comparison.hpp"
#include "stats/ties.hpp"

namespace joust::race {

// A positive figure of a measured trial, such as its throughput; nothing where it is not known.
using Figure = std::function<std::optional<double>(const Trial&)>;

std::optional<double> throughput(const Trial& trial);
std::optional<double> server_cost(const Trial& trial);  // CPU time of the server per message
// Returns a latency of the trial's own samples; nothing where too few samples lie beyond the percentile.
Figure latency(const LatencyFigure& figure);

// The figure by which the contestants of a case are ranked.
struct RankedBy {
  Figure figure;
  stats::Better better;
};
RankedBy ranked_by(const CaseResult& one);
// Return the figure that ranks an entry, and its ratio to the reference; both may be empty.
const std::optional<Estimate>& ranked_figure(const CaseResult& one, const Entry& entry);
const std::optional<Estimate>& ranked_ratio(const CaseResult& one, const Entry& entry);

// True if several contestants have figures, and because of the noise of the rounds none of them is ahead.
bool no_place_is_told(const CaseResult& one);

// Returns the figure of each round; nothing for rounds without a usable trial.
stats::Rounds by_round(const CaseResult& one, const Entry& entry, const Figure& figure);

// Compares the reference's second entry with its first, as a comparison of its own. Returns nothing unless
// both have a result.
std::optional<stats::Ratio> reference_to_itself(const CaseResult& one, const Figure& figure);

// The comparison of a case's contestants by one figure. Pure.
struct Ranking {
  struct Rank {
    std::optional<Estimate> ratio{};  // ratio to the reference
    bool told_apart = false;          // from the reference, also by a bound that proves it
    std::optional<int> tie_group{};   // only for a ranked entry whose figure is no bound
  };
  stats::Family family;  // all pairs of ranked contestants and bounds
  double least_difference;
  bool reference_differs;     // the reference differs from its second entry
  std::vector<Rank> ranks{};  // by entry
};
Ranking rank(const CaseResult& one, const Figure& figure, stats::Better better, std::size_t looks = 1);

}  // namespace joust::race

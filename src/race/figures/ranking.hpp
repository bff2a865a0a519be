// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "race/model/result.hpp"
#include "stats/comparison.hpp"

namespace joust::race {

// A positive figure of a measured trial, such as its throughput; nothing where it is not known.
using Figure = std::function<std::optional<double>(const Trial&)>;

std::optional<double> throughput(const Trial& trial);
std::optional<double> server_cost(const Trial& trial);  // CPU time of the server per message
// Returns the CPU time of a command that moves files, and of the server that it needs, if any: a part of the
// work, such as a digest, may be done on either side.
std::optional<double> command_cost(const Trial& trial);
// Returns a latency of the trial's own samples; nothing where too few samples lie beyond the percentile.
Figure latency(const LatencyFigure& figure);

// A figure that contestants are compared by.
struct RankedBy {
  Figure figure;
  stats::Better better;
  bool is_cost = false;  // CPU time, which means nothing where a side polls
  // The figure of all turns, stalls included, where `figure` is that of the quiet turns: contestants are
  // equal only if both figures say so.
  Figure all_turns{};
  std::optional<double> (Turn::*of_turn)() const =
      nullptr;  // the figure of a turn; null where turns have none
};
// Returns the figure by which the contestants of a case are ranked.
RankedBy ranked_by(const CaseResult& one);
inline Figure cost_of(const CaseResult& one) {
  return one.plan.files ? command_cost : server_cost;
}
RankedBy cost_ranking(const CaseResult& one);
// Return the figure that ranks an entry, and its ratio to the reference; both may be empty.
const std::optional<Estimate>& ranked_figure(const CaseResult& one, const Entry& entry);
const std::optional<Estimate>& ranked_ratio(const CaseResult& one, const Entry& entry);

// Returns the logarithms of the ratios of a figure of two trials, for each turn that both have.
std::vector<double> log_ratios_of_turns(const Trial& one, const Trial& other,
                                        std::optional<double> (Turn::*figure)() const);

// Returns the logarithm of the ratio of two entries in each round. In turns it is Hodges and Lehmann's
// estimate of the ratios of their turns, which a disturbance of a few turns hardly changes, unless all turns
// of either count, stalls included.
stats::LogRatios log_ratios(const CaseResult& one, const Entry& entry, const Entry& other,
                            const RankedBy& by);

// True if several contestants have figures, and because of the noise of the rounds none of them is ahead.
bool no_place_is_told(const CaseResult& one);

// Returns the figure of each round, as tables have it; nothing for rounds without a usable trial.
stats::Rounds by_round(const CaseResult& one, const Entry& entry, const Figure& figure);

// The comparison of a case's contestants by one figure. Pure.
struct Ranking {
  struct Rank {
    std::optional<Estimate> ratio{};       // ratio to the reference
    std::optional<stats::Places> place{};  // only for a ranked entry whose figure can be ranked
  };
  Comparison comparison;
  std::vector<Rank> ranks{};  // by entry
};
Ranking rank(const CaseResult& one, const RankedBy& by, const stats::Measure& measure);

}  // namespace joust::race

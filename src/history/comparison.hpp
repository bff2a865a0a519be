// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "history/series.hpp"
#include "race/judgement/thresholds.hpp"
#include "stats/comparison.hpp"

// Two results of the same race, compared across the time between them. Nothing pairs their rounds, so what
// has changed on the machine meanwhile is in the ratio. How much that is, the scatter between earlier races
// of the same series says.
namespace joust::history {

// With fewer races of a series their scatter is not known.
inline constexpr std::size_t kRacesOfScatter = 5;
// Then intervals are wider by this factor in both directions, so that no smaller difference is told.
inline constexpr double kUnknownScatter = 1.10;

// One contestant's figure in the new result, beside that in the base.
struct Change {
  std::string case_{}, contestant{}, figure{};
  bool is_cost = false, smaller_is_better = false;
  double base = 0, now = 0;  // geometric means of the rounds; 0 where the figure is missing
  stats::Ratio ratio{.estimate = 1};
  race::Bounds bounds{};
  stats::Decision decision = stats::Decision::undecided;
  std::size_t races = 0;  // of this series in the same environment
  double scatter = 0;  // standard deviation of their logarithms, from successive ones; 0 with fewer than two
  std::string missing{};  // why it cannot be compared; empty if it is

  // The client was the limit in one of the races.
  bool is_bound() const { return bounds.contestant || bounds.reference; }
  // The ratio has an interval, from the rounds or from other races, and the client's limit hides nothing.
  bool is_judged() const {
    const bool is_hidden = is_bound() || (bounds.understated && decision == stats::Decision::undecided);
    return missing.empty() && ratio.is_known() && !is_hidden;
  }
};

// Returns the values of a figure of a series in the latest races of the environment of the base, the oldest
// first, without the two that are compared.
using Earlier = std::function<std::vector<double>(const std::string& series, const std::string& figure)>;

// Compares every contestant of a case with the contestant of that name in the case of that name. The
// intervals contain the true ratios with stats::kTogether, all at the same time (Bonferroni).
//
// The interval of a ratio is that of the rounds of both races (Welch), or that of the scatter between
// kRacesOfScatter or more other races, whichever is wider; its chance is the greater one. The scatter is that
// of successive races (von Neumann), in which a step of the series counts once. Welch, "The generalization of
// 'Student's' problem when several different population variances are involved", Biometrika 34, 1947.
std::vector<Change> compare(const report::page::Document& base, const report::page::Document& now,
                            const Earlier& earlier, const stats::Measure& measure);

// Returns why two results are not of the same race: a case that only one has, or that has another load.
// Empty if they are.
std::string why_not_the_same(const report::page::Document& base, const report::page::Document& now,
                             const std::string& base_name, const std::string& name);
// Returns the facts in which the environments differ, of those that must agree; the fingerprint alone where
// none of the facts tells. Empty if they agree.
std::vector<std::string> different_facts(const report::page::Document& base,
                                         const report::page::Document& now);

}  // namespace joust::history

// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/page/document.hpp"

// The ratios of a case: by the figure that ranks, and by cost.
namespace joust::report::page {

enum class RatioOf { ranking, cost };

struct RoundRatio {
  std::uint64_t round = 0;
  double ratio = 1;
};

// Returns the ratio of a contestant to the reference; null if there is none.
const Measured* ratio_of(const Heat& heat, const Runner& runner, RatioOf of);

// Returns the ratio in each generation that both the contestant and the reference have. Their geometric mean
// is the ratio of the race.
std::vector<RoundRatio> round_ratios(const Heat& heat, const Runner& runner, RatioOf of);

// Returns "≥ " where the ratio is a lower bound, "≤ " where the reference is one; otherwise nothing.
std::string bound_mark(const Heat& heat, const Runner& runner, RatioOf of);

// Returns the number of a contestant within its case, for its colour and shape. The reference's second entry
// has that of the reference.
std::size_t series_of(const Heat& heat, const Runner& runner);

}  // namespace joust::report::page

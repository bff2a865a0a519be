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
const Measured* ratio_of(const Case& load_case, const Contestant& contestant, RatioOf of);

// Returns the ratio in each generation that both the contestant and the reference have. Their geometric mean
// is the ratio of the race.
std::vector<RoundRatio> round_ratios(const Case& load_case, const Contestant& contestant, RatioOf of);

// Returns whether the ratio is one of two lower bounds, which says nothing.
bool is_of_two_bounds(const Case& load_case, const Contestant& contestant, RatioOf of);

// Returns the mark before a ratio: "≥ " of a lower bound, "≤ " to one, which say nothing of costs and
// latencies.
const char* mark_of_ratio(const Case& load_case, const Contestant& contestant, RatioOf of);

// Formats the ratio to the reference with its interval: "≥ 1.56 (1.49 to 1.62)" if it is a lower bound, "≤ "
// if the reference is one. The entry has a ratio.
std::string ratio_text(const Case& load_case, const Contestant& contestant, RatioOf of);

// Returns the name, with a remark if the contestant is not ranked.
std::string shown_name(const Contestant& contestant);

// Returns the number of a contestant within its case, for its colour and shape. The reference's second entry
// has that of the reference.
std::size_t series_of(const Case& load_case, const Contestant& contestant);

}  // namespace joust::report::page

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/page/document.hpp"

namespace joust::history {

// A figure of a contestant in one race: its values by round, which are positive.
struct Figure {
  std::string name{};  // the key in the summary of the document: "throughput_per_s"
  bool is_cost = false, smaller_is_better = false;
  std::vector<double> values{};
};

// Returns the figure that ranks the contestants of a case, in one round; nothing if the round lacks it.
std::optional<double> ranked_value(const report::page::Case& load_case, const report::page::Trial& trial);

// Returns the figure that ranks the contestants of a case, and the cost of a message.
std::vector<Figure> figures_of(const report::page::Case& load_case,
                               const report::page::Contestant& contestant);

// Returns the name of the races in which a contestant does the same: 32 hexadecimal digits over the case's
// protocol and load, the contestant's name and its client. The length of a race is no part of it, nor is the
// command of a server: the same name may stand for an older version of it.
std::string series_of(const report::page::Case& load_case, const report::page::Contestant& contestant);

// Returns the geometric mean of positive values.
double geometric_mean(const std::vector<double>& values);

// Returns a fact of the environment; empty if the document has none.
std::string fact(const report::page::Document& document, std::string_view name);

}  // namespace joust::history

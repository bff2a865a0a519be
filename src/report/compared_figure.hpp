// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "race/model/result.hpp"
#include "report/text.hpp"

// Figures of contestants that tables compare over cases (a sweep), or over clients and servers (a matrix).
namespace joust::report {

struct ComparedFigure {
  std::string title;
  std::optional<double> (*value)(const race::Entry&);
  std::string (*text)(double);
  bool may_be_bound;  // a bound if the load was the limit
};

// The 99th percentile of latency, as in the table of a case: the median of the rounds.
const ComparedFigure& p99_figure();
// The figure by which costs are compared: CPU time of the server, or of both sides of a command that moves
// files.
const ComparedFigure& compared_cost(const race::CaseResult& one);

// Returns the figure of an entry, which may be null: in brackets if the entry is not ranked, marked if it is
// a bound.
std::string cell_text(const race::Entry* entry, const ComparedFigure& figure);

// Returns whether the figure of an entry is in brackets: it is a contestant with results, and is not ranked.
bool in_brackets(const race::Entry& entry);

// Returns a line that explains the brackets, and names the place of the reason.
std::string brackets_text(std::string_view place, const Terminal& terminal);

}  // namespace joust::report

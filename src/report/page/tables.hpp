// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/page/document.hpp"
#include "report/table.hpp"

// The tables of a case as texts. A table of a terminal has groups of columns.
namespace joust::report::page {

// The places, the throughput, the cost, their ratios with intervals, and the latency.
Table results_of(const Case& load_case);
// The context switches and system calls of a message, the memory, and the CPU in use, of both sides.
Table resources_of(const Case& load_case);

// For the terminal of a race: the table beside the answer, with the place, the figure that ranks, its ratio,
// the CPU time of the server, and the latency.
Table answer_of(const Case& load_case);
// With all details: places, throughput and latency; where latency ranks the contestants, it has
// more of the columns.
Table terminal_results_of(const Case& load_case);
// The CPU time of both sides per message, the cheapest server first.
Table terminal_costs_of(const Case& load_case);
// The other costs of a message on both sides.
Table terminal_resources_of(const Case& load_case);

struct TitledTable {
  std::string title{};
  Table table{};
};
// A figure of every client with every server, in brackets where the contestant is not ranked, and its cost.
// Empty unless both sides have several, and for a point of a curve.
std::vector<TitledTable> matrices_of(const Case& load_case);

// Returns the figure that the matrix and a curve show first: throughput, or the latency that ranks.
const FigureRow& first_figure_of(const Case& load_case);

// Returns the name of a case, with its title if it has one.
std::string heading_of(const Case& load_case);

// Explains the marks before the figures of these tables, in whole sentences.
std::vector<std::string> marks_in(std::span<const Table> tables);

// Returns what to do about a check that warns or refuses, by its number.
std::string remedy_of(std::uint64_t check);

}  // namespace joust::report::page

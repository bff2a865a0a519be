// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/page/document.hpp"
#include "report/table.hpp"

// The tables of a case as texts, for a page and for Markdown.
namespace joust::report::page {

// The places, the throughput, the cost, their ratios with intervals, and the latency.
Table results_of(const Case& load_case);
// The context switches and system calls of a message, the memory, and the CPU in use, of both sides.
Table resources_of(const Case& load_case);

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

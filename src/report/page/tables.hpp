// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/page/document.hpp"
#include "report/table.hpp"

// The tables of a case as texts, for a page and for Markdown.
namespace joust::report::page {

// The places, the throughput, the cost, their ratios with intervals, and the latency.
Table results_of(const Heat& heat);
// The context switches and system calls of a message, the memory, and the CPU in use, of both sides.
Table resources_of(const Heat& heat);
// A figure of every client with every server, in brackets where the contestant is not ranked; empty unless
// both have several.
Table matrix_of(const Heat& heat, const FigureRow& figure);

// Returns the figure that the matrix and a curve show first: throughput, or the latency that ranks.
const FigureRow& first_figure_of(const Heat& heat);

// Returns what to do about a check that warns or refuses, by its number.
std::string remedy_of(std::uint64_t check);

}  // namespace joust::report::page

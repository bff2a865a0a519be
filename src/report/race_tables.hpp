// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "race/model/result.hpp"
#include "report/table.hpp"

// The tables of the contestants of a case.
namespace joust::report {

// The table that comes first: place, figure, ratio, CPU time of the server and latency.
Table answer_table(const race::CaseResult& one);

// Places, throughput and latency. Where latency ranks the contestants, it has more of the columns.
Table results_of(const race::CaseResult& one);

// The CPU time of both sides per message, the cheapest server first.
Table costs_of(const race::RaceResult& race, const race::CaseResult& one);

// The other costs of a message on both sides.
Table resources_of(const race::CaseResult& one);

std::optional<double> median(const std::optional<race::Estimate>& estimate);

// Returns a latency of an entry: the median of its rounds. Where each round has too few samples for it, that
// of the samples of all rounds together.
std::optional<double> latency_of_rounds(const race::Entry& entry, const race::LatencyFigure& figure);

// Returns whether any entry of the case transfers files. Then tables show bytes, which are more useful than
// the number of files.
bool carries_files(const race::CaseResult& one);

}  // namespace joust::report

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "race/model/result.hpp"
#include "report/text.hpp"

// Rows and cells that the tables of a race share.
namespace joust::report {

// Returns the rows of a table, in their order (report/row_order.hpp).
std::vector<const race::Entry*> rows_of(const race::CaseResult& one);

// Returns the place: "1", or "1-3" where only a range is known.
std::string place_text(const std::optional<stats::Places>& places);

// Returns the title of a column of intervals: "95 % together", or "95 % interval" with one comparison.
std::string interval_title(const race::Comparison& comparison);

// Formats an interval: "0.93 to 1.02", or "not known". An interval needs two rounds.
std::string interval_text(const std::optional<race::Estimate>& ratio, int digits = 2);

std::string latency_text(const std::optional<double>& nanoseconds);

// Formats a percentile: "4.83 ms", or "~4.83 ms" when few samples lie beyond it.
std::string percentile_text(const Distribution& latency, double quantile);

// Returns a latency of an entry: the median of its rounds. Where each round has too few samples for it, that
// of the samples of all rounds together.
std::optional<double> latency_of_rounds(const race::Entry& entry, const race::LatencyFigure& figure);
// Formats it, with the same mark.
std::string latency_of_rounds_text(const race::Entry& entry, const race::LatencyFigure& figure);
std::string greatest_text(const Distribution& latency);

// Formats the lost share of the messages, "0.3 %". The column exists only where the delivery of some
// contestant is lossy.
bool has_deliveries(const std::vector<const race::Entry*>& rows);
std::string deliveries_text(const race::Entry& entry);

bool has_losses(const std::vector<const race::Entry*>& rows);
std::string loss_text(const race::Entry& entry);

// Explains the marks that are shown: marks of bounds, and of these percentiles. Names the entries whose
// rounds differ much in one of them, with the lowest and the highest round.
std::string legend(const race::CaseResult& one, const std::vector<const race::Entry*>& rows,
                   const std::vector<const race::LatencyFigure*>& percentiles, const Terminal& terminal);

}  // namespace joust::report

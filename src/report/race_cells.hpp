// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "race/result.hpp"
#include "report/text.hpp"

// Rows and cells that the tables of a race share.
namespace joust::report {

inline constexpr const char* kNone = "–";

// Contestants by rank; then bounds, by cost; then those that are not ranked, by the figure of the ranking;
// then those that did not run.
std::vector<const race::Entry*> rows_of(const race::CaseResult& one);

// "1", or "2=" where several share the place.
std::string place_text(const race::CaseResult& one, const race::Entry& entry,
                       std::optional<int> race::Entry::* group);

// "95 % together": the least confidence of the rows, rounded down. With one comparison "95 % interval".
using RatioOf = std::function<std::optional<race::Estimate>(const race::Summary&)>;
std::string interval_title(const race::CaseResult& one, const std::vector<const race::Entry*>& rows,
                           const RatioOf& ratio);

// "0.93 to 1.02", or "not known"; two rounds are needed.
std::string interval_text(const std::optional<race::Estimate>& ratio, int digits = 2);

std::string latency_text(const std::optional<double>& nanoseconds);

// "4.83 ms", or "~4.83 ms" when few samples lie beyond it.
std::string percentile_text(const race::Latency& latency, std::optional<double> race::Latency::* figure,
                            const char* name);

// "0.3 %" of the messages; only where the delivery of some contestant is lossy.
bool has_deliveries(const std::vector<const race::Entry*>& rows);
std::string deliveries_text(const race::Entry& entry);

bool has_losses(const std::vector<const race::Entry*>& rows);
std::string loss_text(const race::Entry& entry);

// Explains the marks that are shown: of bounds, and of these percentiles.
std::string legend(const std::vector<const race::Entry*>& rows, const std::vector<std::string>& shown,
                   const Terminal& terminal);

}  // namespace joust::report

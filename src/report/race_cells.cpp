// SPDX-License-Identifier: MIT
#include "report/race_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/text.hpp"

namespace joust::report {

using race::CaseResult;
using race::Entry;

std::string interval_title(const CaseResult& one, const std::vector<const Entry*>& rows,
                           const RatioOf& ratio) {
  double least = 1;
  for (const Entry* entry : rows)
    if (const auto known = ratio(entry->summary); known && known->interval.is_known())
      least = std::min(least, known->confidence);
  if (least == 1) return "interval";
  constexpr double kRounding = 1e-9;
  const char* const of = one.family.pairs() > 1 ? "together" : "interval";
  return fmt::format("{:.0f} % {}", std::floor(least * 100 + kRounding), of);
}

std::string interval_text(const std::optional<race::Estimate>& ratio, int digits) {
  if (!ratio || !ratio->interval.is_known()) return kNone;
  constexpr double kShown = 100;  // above, a figure says no more than that the interval is wide
  const double high = ratio->interval.high;
  return fmt::format("{:.{}f} to {}", ratio->interval.low, digits,
                     high < kShown ? fmt::format("{:.{}f}", high, digits) : fmt::format(">{}", kShown));
}

std::string latency_text(const std::optional<double>& nanoseconds) {
  return nanoseconds ? format_duration(Duration(std::llround(*nanoseconds))) : kNone;
}

std::string percentile_text(const race::Latency& latency, std::optional<double> race::Latency::* figure,
                            const char* name) {
  return fmt::format("{}{}", std::ranges::count(latency.shaky, name) > 0 ? "~" : "",
                     latency_text(latency.*figure));
}

std::vector<const Entry*> rows_of(const CaseResult& one) {
  std::vector<const Entry*> rows;
  for (const Entry& entry : one.entries)
    if (entry.is_contestant()) rows.push_back(&entry);
  const auto key = [&](const Entry* entry) {
    const auto& figure =
        one.ranked_by_latency() ? entry->summary.latency_by_round.p99 : entry->summary.throughput_per_s;
    const double sign = one.ranked_by_latency() ? 1 : -1;
    return std::tuple(!entry->ranked, !figure, entry->tie_group.value_or(0),
                      figure ? sign * figure->median : 0.0);
  };
  std::ranges::stable_sort(rows, {}, key);
  return rows;
}

std::string place_text(const CaseResult& one, const Entry& entry, std::optional<int> Entry::* group) {
  if (!(entry.*group)) return kNone;
  const auto sharing = std::ranges::count_if(
      one.entries, [&](const Entry& other) { return other.*group && *(other.*group) == *(entry.*group); });
  return fmt::format("{}{}", *(entry.*group), sharing > 1 ? "=" : " ");
}

std::string legend(const std::vector<const Entry*>& rows, const std::vector<std::string>& shown,
                   const Terminal& terminal) {
  const bool marked = std::ranges::any_of(rows, [&](const Entry* entry) {
    return std::ranges::any_of(entry->summary.latency_ns.shaky, [&](const std::string& percentile) {
      return std::ranges::count(shown, percentile) > 0;
    });
  });
  if (!marked) return {};
  return painted(wrapped("    ~: fewer than 100 samples lie beyond it", 4, terminal.columns), Paint::dim,
                 terminal) +
         "\n";
}

}  // namespace joust::report

// SPDX-License-Identifier: MIT
#include "report/compared_figure.hpp"

#include <fmt/format.h>

#include "base/units.hpp"
#include "report/race_tables.hpp"
#include "report/row_order.hpp"

namespace joust::report {

using race::Entry;

const ComparedFigure& p99_figure() {
  static const ComparedFigure figure{
      "p99 latency", [](const Entry& entry) { return latency_of_rounds(entry, race::kP99Latency); },
      format_ns, false};
  return figure;
}

const ComparedFigure& compared_cost(const race::CaseResult& one) {
  static const ComparedFigure of_server{"server CPU us/message",
                                        [](const Entry& entry) {
                                          const auto cost = median(entry.summary.server_cpu_us_per_message);
                                          return cost ? cost : entry.summary.cpu_us_per_message.server;
                                        },
                                        plain_number, false};
  static const ComparedFigure of_command{
      "CPU us/file of both sides",
      [](const Entry& entry) { return median(entry.summary.cost_us_per_message); }, plain_number, false};
  return one.plan.files ? of_command : of_server;
}

std::string cell_text(const Entry* entry, const ComparedFigure& figure) {
  const auto value = entry == nullptr ? std::nullopt : figure.value(*entry);
  if (!value) return kNone;
  if (!entry->ranked) return fmt::format("({})", figure.text(*value));
  return (figure.may_be_bound ? bound_mark(entry->at_least, entry->limit_unknown) : "") + figure.text(*value);
}

bool in_brackets(const Entry& entry) {
  return entry.is_contestant() && !entry.ranked && entry.summary.trials > 0;
}

std::string brackets_text(std::string_view place, const Terminal& terminal) {
  return painted(fmt::format("    in brackets: not ranked, see {}", place), Paint::dim, terminal) + "\n";
}

}  // namespace joust::report

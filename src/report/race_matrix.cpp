// SPDX-License-Identifier: MIT
#include "report/race_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "race/scenario/engine_choice.hpp"
#include "report/compared_figure.hpp"
#include "report/race_tables.hpp"

namespace joust::report {
namespace {

using race::Entry;

constexpr double kSeconds = 10;  // the time over which published comparisons count

std::optional<double> messages_in_all(const Entry& entry) {
  const auto per_s = median(entry.summary.throughput_per_s);
  return per_s ? std::optional(*per_s * kSeconds) : std::nullopt;
}

std::string label(EngineChoice choice) {
  if (!choice.threads_given) choice.threads = 1;
  return race::describe(choice);
}

// Returns the contestants of the matrix. A pair that occurs several times has a column of its own each time;
// otherwise only one would be shown.
std::vector<Crossing> crossings_of(const race::CaseResult& one) {
  std::vector<Crossing> all;
  for (std::size_t i = 0; i < one.entries.size(); ++i) {
    const Entry& entry = one.entries[i];
    if (!entry.is_contestant() || entry.contestant.external() || entry.in_process) continue;
    const std::string client = label(entry.contestant.client);
    std::vector<std::string> taken;
    for (const Crossing& other : all)
      if (other.client == client) taken.push_back(other.server);
    all.push_back({client, race::free_name(label(entry.contestant.server), taken), i});
  }
  drop_lonely(all);
  return all;
}

}  // namespace

std::string matrix_text(const race::CaseResult& one, const Terminal& terminal) {
  if (one.plan.point) return {};
  const std::vector<Crossing> all = crossings_of(one);
  if (all.empty()) return {};
  const ComparedFigure rate{fmt::format("messages per {} s", kSeconds), messages_in_all, format_count, true};
  const ComparedFigure* const figures[] = {one.ranked_by_latency() ? &p99_figure() : &rate,
                                           &compared_cost(one)};
  std::string text = "\n";
  for (const ComparedFigure* figure : figures) {
    const Table table =
        crossed(all, [&](std::size_t number) { return cell_text(&one.entries[number], *figure); });
    text += painted(one.plan.name + ": " + figure->title, Paint::bold, terminal) + "\n\n" +
            terminal_text(table, terminal) + "\n";
  }
  if (std::ranges::any_of(all, [&](const Crossing& each) { return in_brackets(one.entries[each.number]); }))
    text += brackets_text("the case", terminal);
  return text;
}

}  // namespace joust::report

// SPDX-License-Identifier: MIT
#include "history/merging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "stats/intervals.hpp"
#include "stats/summary.hpp"

namespace joust::history {
namespace {

using report::page::Case;
using report::page::Contestant;
using report::page::Trial;

// Returns the geometric mean of the ratios of rounds that both have; nothing if there is none.
template <typename Value>
std::optional<double> ratio_in_rounds(const Contestant& contestant, const Contestant& reference,
                                      Value value) {
  std::map<std::uint64_t, double> of_reference;
  for (const Trial& one : reference.counted)
    if (const std::optional<double> figure = value(one); figure && *figure > 0)
      of_reference[one.round] = *figure;
  std::vector<double> ratios;
  for (const Trial& one : contestant.counted) {
    const auto base = of_reference.find(one.round);
    const std::optional<double> figure = value(one);
    if (base != of_reference.end() && figure && *figure > 0) ratios.push_back(*figure / base->second);
  }
  return ratios.empty() ? std::nullopt : std::optional(geometric_mean(ratios));
}

// Returns the ratio over the races, with Student's interval of their logarithms.
stats::Ratio over_races(const std::vector<RaceOfMany>& races, std::optional<double> RaceOfMany::*which) {
  std::vector<double> logarithms;
  for (const RaceOfMany& race : races)
    if (race.*which) logarithms.push_back(std::log(*(race.*which)));
  stats::Ratio ratio{.estimate = std::numeric_limits<double>::quiet_NaN(), .rounds = logarithms.size()};
  ratio.interval = {.low = 0};
  if (logarithms.empty()) return ratio;
  const double middle = stats::mean(logarithms);
  ratio.estimate = std::exp(middle);
  if (logarithms.size() < 2) return ratio;
  const double half = std::sqrt(stats::variance(logarithms) / static_cast<double>(logarithms.size())) *
                      stats::student_quantile(1 - stats::kTogether, logarithms.size() - 1);
  ratio.interval = {.low = std::exp(middle - half), .high = std::exp(middle + half)};
  return ratio;
}

// Returns why the throughput or latency of a contestant has no ratio in one race; empty if it has.
std::string why_no_ratio(const Contestant& contestant, const Contestant* reference, const std::string& name) {
  if (reference == nullptr) return fmt::format("{} did not take part", name);
  if (!reference->is_sound()) return fmt::format("{} is not ranked ({})", name, reference->reason);
  if (contestant.at_least || reference->at_least) return "the client was the limit, so throughput is a bound";
  if (contestant.limit_unknown.value_or(false) || reference->limit_unknown.value_or(false))
    return "the client may have been the limit, so throughput may be a bound";
  return {};
}

// Adds a contestant's part in one race.
void add(const std::string& label, const Case& load_case, Merged& merged, bool& knows_latencies) {
  const Contestant *const contestant = load_case.find(merged.contestant), *const reference = load_case.find(
                                                                              merged.reference);
  if (contestant == nullptr || !contestant->is_sound()) {
    merged.left_out.push_back(
        fmt::format("{}: {}", label, contestant == nullptr ? "it did not take part" : contestant->reason));
    return;
  }
  RaceOfMany race{.label = label, .rounds = contestant->counted.size()};
  const std::string why = why_no_ratio(*contestant, reference, merged.reference);
  if (!why.empty()) merged.left_out.push_back(fmt::format("{}: {}", label, why));
  if (why.empty())
    race.ratio = ratio_in_rounds(*contestant, *reference,
                                 [&](const Trial& one) { return ranked_value(load_case, one); });
  if (reference != nullptr && reference->is_sound())
    race.cost_ratio = ratio_in_rounds(*contestant, *reference, [](const Trial& one) { return one.cost; });
  merged.races.push_back(std::move(race));
  if (contestant->latency.count() == 0) knows_latencies = false;
  merged.latency.merge(contestant->latency);
}

// Returns the names of the contestants of a case in all documents, in the order in which they come.
std::vector<std::string> names_in(std::span<const NamedDocument> documents, const std::string& case_name) {
  std::vector<std::string> names;
  for (const NamedDocument& one : documents)
    if (const Case* const load_case = one.document.find(case_name))
      for (const Contestant* contestant : load_case->rows())
        if (std::ranges::count(names, contestant->name) == 0) names.push_back(contestant->name);
  return names;
}

}  // namespace

std::string label_of(const NamedDocument& result) {
  const std::string host = fact(result.document, "host"), &started = result.document.race.started;
  return fmt::format("{} of {}{}", result.name, started.substr(0, started.find('T')),
                     host.empty() ? "" : ", " + host);
}

std::vector<Merged> merge(std::span<const NamedDocument> documents) {
  std::vector<Merged> all;
  for (const Case& first : documents.front().document.cases)
    for (const std::string& name : names_in(documents, first.name)) {
      Merged merged{.case_ = first.name, .contestant = name, .reference = first.reference};
      bool knows_latencies = true;
      for (const NamedDocument& one : documents)
        if (const Case* const load_case = one.document.find(first.name))
          add(label_of(one), *load_case, merged, knows_latencies);
      if (!knows_latencies) merged.latency = {};
      merged.ratio = over_races(merged.races, &RaceOfMany::ratio);
      merged.cost_ratio = over_races(merged.races, &RaceOfMany::cost_ratio);
      all.push_back(std::move(merged));
    }
  return all;
}

}  // namespace joust::history

// SPDX-License-Identifier: MIT
#include "report/page/ratios.hpp"

#include <algorithm>

namespace joust::report::page {
namespace {

std::optional<double> value_of(const Case& load_case, const Trial& trial, RatioOf of) {
  if (of == RatioOf::cost) return trial.cost;
  if (!load_case.by_latency()) return trial.throughput;
  const auto found = trial.latency_ns.find(load_case.ranked_by);
  return found == trial.latency_ns.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

const Measured* ratio_of(const Case& load_case, const Contestant& contestant, RatioOf of) {
  return contestant.figure(of == RatioOf::cost ? "cost_ratio" : load_case.ratio_key());
}

std::vector<RoundRatio> round_ratios(const Case& load_case, const Contestant& contestant, RatioOf of) {
  const Contestant* const reference = load_case.find(load_case.reference);
  std::vector<RoundRatio> ratios;
  if (reference == nullptr) return ratios;
  for (const Trial& one : contestant.counted) {
    const auto same = std::ranges::find(reference->counted, one.round, &Trial::round);
    if (same == reference->counted.end()) continue;
    const auto value = value_of(load_case, one, of), base = value_of(load_case, *same, of);
    if (value && base && *value > 0 && *base > 0) ratios.push_back({one.round, *value / *base});
  }
  return ratios;
}

bool is_of_two_bounds(const Case& load_case, const Contestant& contestant, RatioOf of) {
  const Contestant* const reference = load_case.find(load_case.reference);
  return of == RatioOf::ranking && !load_case.by_latency() && contestant.kind == Kind::contestant &&
         contestant.at_least && reference != nullptr && reference != &contestant && reference->at_least;
}

const char* mark_of_ratio(const Case& load_case, const Contestant& contestant, RatioOf of) {
  if (of == RatioOf::cost || load_case.by_latency() || contestant.kind != Kind::contestant) return "";
  const Contestant* const reference = load_case.find(load_case.reference);
  if (&contestant == reference) return "";
  if (contestant.at_least) return "≥ ";
  return reference != nullptr && reference->at_least ? "≤ " : "";
}

std::string ratio_text(const Case& load_case, const Contestant& contestant, RatioOf of) {
  if (is_of_two_bounds(load_case, contestant, of)) return "two bounds: no ratio";
  return mark_of_ratio(load_case, contestant, of) + ratio_with_interval(*ratio_of(load_case, contestant, of));
}

std::string shown_name(const Contestant& contestant) {
  const bool unranked = contestant.kind == Kind::contestant && !contestant.ranked && !contestant.at_least;
  return unranked ? contestant.name + " (not ranked)" : contestant.name;
}

std::size_t series_of(const Case& load_case, const Contestant& contestant) {
  const std::string& name = contestant.kind == Kind::again ? load_case.reference : contestant.name;
  std::size_t series = 0;
  for (const Contestant& one : load_case.contestants) {
    if (one.kind != Kind::contestant) continue;
    if (one.name == name) return series;
    ++series;
  }
  return series;
}

}  // namespace joust::report::page

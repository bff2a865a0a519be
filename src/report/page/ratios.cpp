// SPDX-License-Identifier: MIT
#include "report/page/ratios.hpp"

#include <algorithm>

namespace joust::report::page {
namespace {

std::optional<double> value_of(const Heat& heat, const Generation& generation, RatioOf of) {
  if (of == RatioOf::cost) return generation.cost;
  if (!heat.by_latency()) return generation.throughput;
  const auto found = generation.latency_ns.find(heat.ranked_by);
  return found == generation.latency_ns.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

const Measured* ratio_of(const Heat& heat, const Runner& runner, RatioOf of) {
  return runner.figure(of == RatioOf::cost ? "cost_ratio" : heat.ratio_key());
}

std::vector<RoundRatio> round_ratios(const Heat& heat, const Runner& runner, RatioOf of) {
  const Runner* const reference = heat.find(heat.reference);
  std::vector<RoundRatio> ratios;
  if (reference == nullptr) return ratios;
  for (const Generation& one : runner.generations) {
    const auto same = std::ranges::find(reference->generations, one.round, &Generation::round);
    if (same == reference->generations.end()) continue;
    const auto value = value_of(heat, one, of), base = value_of(heat, *same, of);
    if (value && base && *value > 0 && *base > 0) ratios.push_back({one.round, *value / *base});
  }
  return ratios;
}

bool is_of_two_bounds(const Heat& heat, const Runner& runner, RatioOf of) {
  const Runner* const reference = heat.find(heat.reference);
  return of == RatioOf::ranking && !heat.by_latency() && runner.kind == Kind::contestant && runner.at_least &&
         reference != nullptr && reference != &runner && reference->at_least;
}

std::string ratio_text(const Heat& heat, const Runner& runner, RatioOf of) {
  if (is_of_two_bounds(heat, runner, of)) return "two bounds: no ratio";
  const std::string text = ratio_with_interval(*ratio_of(heat, runner, of));
  if (of == RatioOf::cost || heat.by_latency() || runner.kind != Kind::contestant) return text;
  const Runner* const reference = heat.find(heat.reference);
  if (runner.at_least && &runner != reference) return "≥ " + text;
  return (reference != nullptr && reference != &runner && reference->at_least ? "≤ " : "") + text;
}

std::string shown_name(const Runner& runner) {
  const bool unranked = runner.kind == Kind::contestant && !runner.ranked && !runner.at_least;
  return unranked ? runner.name + " (not ranked)" : runner.name;
}

std::size_t series_of(const Heat& heat, const Runner& runner) {
  const std::string& name = runner.kind == Kind::again ? heat.reference : runner.name;
  std::size_t series = 0;
  for (const Runner& one : heat.runners) {
    if (one.kind != Kind::contestant) continue;
    if (one.name == name) return series;
    ++series;
  }
  return series;
}

}  // namespace joust::report::page

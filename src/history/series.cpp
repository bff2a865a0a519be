// SPDX-License-Identifier: MIT
#include "history/series.hpp"

#include <algorithm>
#include <cmath>

#include "base/bytes.hpp"
#include "joust/bytes.hpp"
#include "stats/summary.hpp"

namespace joust::history {
namespace {

using report::page::Generation;
using report::page::Heat;
using report::page::Runner;

void add(std::vector<double>& values, const std::optional<double>& value) {
  if (value && *value > 0) values.push_back(*value);
}

}  // namespace

std::optional<double> ranked_value(const Heat& heat, const Generation& generation) {
  if (!heat.by_latency()) return generation.throughput;
  const auto latency = generation.latency_ns.find(heat.ranked_by);
  return latency == generation.latency_ns.end() ? std::nullopt : std::optional(latency->second);
}

std::vector<Figure> figures_of(const Heat& heat, const Runner& runner) {
  Figure ranked{.name = "throughput_per_s", .smaller_is_better = heat.by_latency()};
  if (heat.by_latency()) ranked.name = "latency_ns." + heat.ranked_by;
  Figure cost{.name = "cost_us_per_message", .is_cost = true, .smaller_is_better = true};
  for (const Generation& generation : runner.generations) {
    add(ranked.values, ranked_value(heat, generation));
    add(cost.values, generation.cost);
  }
  return {std::move(ranked), std::move(cost)};
}

std::string series_of(const Heat& heat, const Runner& runner) {
  Digester digester;
  for (const std::string* part : {&heat.identity, &runner.name, &runner.client}) {
    digester.add(as_bytes(*part));
    digester.add(as_bytes(std::string_view("\0", 1)));
  }
  return to_hex(digester.value());
}

double geometric_mean(const std::vector<double>& values) {
  std::vector<double> logarithms;
  for (const double value : values) logarithms.push_back(std::log(value));
  return std::exp(stats::mean(logarithms));
}

std::string fact(const report::page::Document& document, std::string_view name) {
  const auto found = std::ranges::find(document.environment, name, &report::page::Fact::name);
  return found == document.environment.end() ? "" : found->value;
}

}  // namespace joust::history

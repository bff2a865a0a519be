// SPDX-License-Identifier: MIT
#include "history/series.hpp"

#include <algorithm>
#include <cmath>

#include "base/bytes.hpp"
#include "joust/bytes.hpp"
#include "stats/summary.hpp"

namespace joust::history {
namespace {

using report::page::Case;
using report::page::Contestant;
using report::page::Trial;

void add(std::vector<double>& values, const std::optional<double>& value) {
  if (value && *value > 0) values.push_back(*value);
}

}  // namespace

std::optional<double> ranked_value(const Case& load_case, const Trial& trial) {
  if (!load_case.by_latency()) return trial.throughput;
  const auto latency = trial.latency_ns.find(load_case.ranked_by);
  return latency == trial.latency_ns.end() ? std::nullopt : std::optional(latency->second);
}

std::vector<Figure> figures_of(const Case& load_case, const Contestant& contestant) {
  Figure ranked{.name = "throughput_per_s", .smaller_is_better = load_case.by_latency()};
  if (load_case.by_latency()) ranked.name = "latency_ns." + load_case.ranked_by;
  Figure cost{.name = "cost_us_per_message", .is_cost = true, .smaller_is_better = true};
  for (const Trial& trial : contestant.counted) {
    add(ranked.values, ranked_value(load_case, trial));
    add(cost.values, trial.cost);
  }
  return {std::move(ranked), std::move(cost)};
}

std::string series_of(const Case& load_case, const Contestant& contestant) {
  Digester digester;
  for (const std::string* part : {&load_case.identity, &contestant.name, &contestant.client_engine}) {
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
  const auto found = document.race.environment.find(std::string(name));
  return found == document.race.environment.end() ? "" : found->second;
}

}  // namespace joust::history

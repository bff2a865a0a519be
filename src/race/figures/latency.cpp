// SPDX-License-Identifier: MIT
#include "race/figures/latency.hpp"

#include <algorithm>

#include "measure/histogram.hpp"
#include "stats/summary.hpp"

namespace joust::race {
namespace {

struct Percentile {
  const char* name;
  double quantile;
  std::optional<double> Latency::*figure;
};
constexpr Percentile kPercentiles[] = {{"p50", 0.5, &Latency::p50},
                                       {"p90", 0.9, &Latency::p90},
                                       {"p99", 0.99, &Latency::p99},
                                       {"p999", 0.999, &Latency::p999}};

Latency merged(std::span<const LatencySample> trials) {
  Histogram all;
  double sum = 0, samples = 0;
  for (const LatencySample& trial : trials) {
    for (const auto& [value_ns, count] : trial.counts) all.record(value_ns, count);
    sum += trial.own.mean.value_or(0) * static_cast<double>(trial.own.samples);
    samples += static_cast<double>(trial.own.samples);
  }
  Latency latency{.merged = true};
  if (samples > 0) latency.mean = sum / samples;
  for (const Percentile& each : kPercentiles) {
    const auto value = all.percentile(each.quantile);
    if (!value) continue;
    latency.*each.figure = static_cast<double>(*value);
    if (all.few_beyond(each.quantile)) latency.shaky.emplace_back(each.name);
  }
  return latency;
}

Latency medians(std::span<const LatencySample> trials) {
  const auto median = [&](std::optional<double> Latency::*figure) -> std::optional<double> {
    std::vector<double> values;
    for (const LatencySample& trial : trials)
      if (const auto& value = trial.own.*figure) values.push_back(*value);
    if (values.empty()) return std::nullopt;
    return stats::median(values);
  };
  Latency latency{.mean = median(&Latency::mean)};
  for (const Percentile& each : kPercentiles) latency.*each.figure = median(each.figure);
  return latency;
}

}  // namespace

Latency together(std::span<const LatencySample> trials) {
  const bool mergeable =
      std::ranges::none_of(trials, [](const LatencySample& trial) { return trial.counts.empty(); });
  Latency latency = mergeable ? merged(trials) : medians(trials);
  for (const LatencySample& trial : trials) {
    latency.samples += trial.own.samples;
    // the largest of all trials: a median of maxima would hide the worst latency
    if (trial.own.max) latency.max = std::max(latency.max.value_or(0), *trial.own.max);
  }
  // A bucket's highest value may exceed the maximum.
  for (const Percentile& each : kPercentiles)
    if (latency.merged && latency.max && latency.*each.figure)
      latency.*each.figure = std::min(latency.*each.figure, latency.max);
  return latency;
}

}  // namespace joust::race

// SPDX-License-Identifier: MIT
#include "history/merging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/student.hpp"
#include "stats/summary.hpp"

namespace joust::history {
namespace {

using report::page::Document;
using report::page::Generation;
using report::page::Heat;
using report::page::Runner;

std::optional<double> ranked_value(const Heat& heat, const Generation& generation) {
  if (!heat.by_latency()) return generation.throughput;
  const auto latency = generation.latency_ns.find(heat.ranked_by);
  return latency == generation.latency_ns.end() ? std::nullopt : std::optional(latency->second);
}

// Returns the geometric mean of the ratios of rounds that both have; 0 if there is none.
template <typename Value>
double ratio_in_rounds(const Runner& runner, const Runner& reference, Value value) {
  std::vector<double> ratios;
  for (const Generation& one : runner.generations)
    for (const Generation& other : reference.generations) {
      if (one.round != other.round) continue;
      const std::optional<double> of_one = value(one), of_other = value(other);
      if (of_one && of_other && *of_one > 0 && *of_other > 0) ratios.push_back(*of_one / *of_other);
    }
  return ratios.empty() ? 0 : geometric_mean(ratios);
}

// Returns the ratio over the races, with Student's interval of their logarithms.
stats::Ratio over_races(const std::vector<RaceOfMany>& races, double RaceOfMany::*which) {
  std::vector<double> logarithms;
  for (const RaceOfMany& race : races)
    if (race.*which > 0) logarithms.push_back(std::log(race.*which));
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

// Adds a contestant's part in one race.
void add(const Document& document, const Heat& heat, Merged& merged, bool& knows_latencies) {
  const std::string label = label_of(document);
  const Runner *const runner = heat.find(merged.contestant), *const reference = heat.find(merged.reference);
  if (runner == nullptr || !(runner->ranked || runner->at_least)) {
    merged.left_out.push_back(
        fmt::format("{}: {}", label, runner == nullptr ? "it did not take part" : runner->reason));
    return;
  }
  RaceOfMany race{.label = label, .rounds = runner->generations.size()};
  if (reference != nullptr) {
    race.ratio =
        ratio_in_rounds(*runner, *reference, [&](const Generation& one) { return ranked_value(heat, one); });
    race.cost_ratio = ratio_in_rounds(*runner, *reference, [](const Generation& one) { return one.cost; });
  }
  merged.races.push_back(std::move(race));
  if (runner->latency.count() == 0) knows_latencies = false;
  merged.latency.merge(runner->latency);
}

}  // namespace

std::string label_of(const Document& document) {
  const std::string host = fact(document, "host");
  return document.started.substr(0, document.started.find('T')) + (host.empty() ? "" : " " + host);
}

std::vector<Merged> merge(std::span<const Document> documents) {
  std::vector<Merged> all;
  for (const Heat& first : documents.front().heats)
    for (const Runner* runner : first.contestants()) {
      Merged merged{.heat = first.name,
                    .contestant = runner->name,
                    .reference = first.reference,
                    .by_latency = first.by_latency()};
      bool knows_latencies = true;
      for (const Document& document : documents)
        for (const Heat& heat : document.heats)
          if (heat.name == first.name) add(document, heat, merged, knows_latencies);
      if (!knows_latencies) merged.latency = {};
      merged.ratio = over_races(merged.races, &RaceOfMany::ratio);
      merged.cost_ratio = over_races(merged.races, &RaceOfMany::cost_ratio);
      all.push_back(std::move(merged));
    }
  return all;
}

}  // namespace joust::history

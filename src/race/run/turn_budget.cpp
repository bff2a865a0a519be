// SPDX-License-Identifier: MIT
#include "race/run/turn_budget.hpp"

#include <algorithm>
#include <cmath>

#include "race/figures/ranking.hpp"
#include "race/model/entries.hpp"
#include "race/run/generation_run.hpp"
#include "stats/summary.hpp"

namespace joust::race {
namespace {

using Seconds = std::chrono::duration<double>;

std::optional<Noise> noise_between(const Entry& entry, const Entry& reference, bool by_cost) {
  std::vector<double> levels, variances;
  double turns = 0;
  for (const Trial* trial : usable_trials(entry))
    for (const Trial* base : usable_trials(reference)) {
      if (base->round != trial->round) continue;
      const std::vector<double> logs = log_ratios_of_turns(
          *trial, *base, by_cost ? &Turn::server_cpu_us_per_message : &Turn::throughput_per_s);
      if (logs.size() < 2) continue;
      levels.push_back(stats::mean(logs));
      variances.push_back(stats::variance(logs));
      turns += static_cast<double>(logs.size());
    }
  if (levels.size() < 2) return std::nullopt;
  const double of_turn = stats::mean(variances), count = turns / static_cast<double>(levels.size());
  return Noise{.of_turn = of_turn, .of_generation = std::max(0.0, stats::variance(levels) - of_turn / count)};
}

template <typename Member>
double median_of(const std::vector<GenerationTime>& times, Member member) {
  std::vector<double> values;
  for (const GenerationTime& time : times) values.push_back(Seconds(time.*member).count());
  return stats::median(values);
}

}  // namespace

GenerationTime time_of(const std::vector<Trial>& generation, Duration took) {
  double turns_s = 0;
  std::size_t rounds = 0;
  for (const Trial& trial : generation) {
    rounds = std::max(rounds, trial.turns.size());
    for (const Turn& turn : trial.turns) turns_s += turn.turn_s;
  }
  const auto turns = std::chrono::round<Duration>(Seconds(turns_s));
  return {.set_up = std::max<Duration>(Duration{}, took - turns),
          .round_of_turns = rounds == 0 ? Duration{} : turns / static_cast<std::int64_t>(rounds),
          .turns = rounds};
}

std::optional<Noise> noise_of(const CaseResult& one) {
  const Entry* const reference = find_entry(one, one.reference);
  if (reference == nullptr) return std::nullopt;
  std::vector<double> of_turns, of_generations;
  for (const Entry* entry : entries_of_contestants(one)) {
    if (entry == reference) continue;
    const bool by_cost = one.plan.load.open_loop() || entry->may_be_faster() || reference->may_be_faster();
    if (const auto noise = noise_between(*entry, *reference, by_cost)) {
      of_turns.push_back(noise->of_turn);
      of_generations.push_back(noise->of_generation);
    }
  }
  if (of_turns.empty()) return std::nullopt;
  return Noise{.of_turn = stats::median(of_turns), .of_generation = stats::median(of_generations)};
}

std::optional<std::uint64_t> best_turns(const CaseResult& one, const std::vector<GenerationTime>& times,
                                        Duration left) {
  if (times.size() < kGenerationsThatKnowNoise) return std::nullopt;
  const double set_up = median_of(times, &GenerationTime::set_up),
               round = median_of(times, &GenerationTime::round_of_turns);
  if (round <= 0) return std::nullopt;
  const auto fitting = [&](double generation_s) { return (generation_s - set_up) / round; };
  const auto turns = [](double number) {
    return static_cast<std::uint64_t>(std::max<double>(kFewestTurns, std::round(number)));
  };
  const auto noise = noise_of(one);
  if (!noise || noise->of_generation <= 0) return std::nullopt;
  const double best = std::min(std::sqrt(noise->of_turn / noise->of_generation * set_up / round),
                               static_cast<double>(times.front().turns));
  const std::uint64_t done = times.size();
  const double more = done < kMostGenerations ? static_cast<double>(kMostGenerations - done) : 1;
  return turns(std::max(best, fitting(Seconds(left).count() / more)));
}

}  // namespace joust::race

// SPDX-License-Identifier: MIT
#include "race/run/stopping_rule.hpp"

#include <algorithm>
#include <cmath>

#include "race/figures/ranking.hpp"
#include "race/figures/uneven_turns.hpp"
#include "race/judgement/judge.hpp"
#include "race/model/result.hpp"
#include "race/run/generation_run.hpp"
#include "stats/comparison.hpp"
#include "stats/intervals.hpp"
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

namespace {

// The rounds after which a race is looked at before its end. Fewer rounds sample too little of the
// differences from start to start, and looks in close succession see nearly the same.
constexpr std::uint64_t kFirstLook = 6, kSecondLook = 10;
constexpr Duration kCountingTrial = std::chrono::milliseconds(800);
constexpr Duration kStart = std::chrono::milliseconds(300);  // for the start and the end of both processes

Duration counting_trial(const LoadPlan& load) {
  return load.turns ? kCountingTrial : kStart + load.warmup + load.window().value_or(Duration{});
}

// Returns whether an entry's ratio is precise. A bound does not become a figure by more rounds, so an entry
// with a bound needs precise costs.
bool is_precise(const CaseResult& one, const Entry& entry, double precision) {
  if (!entry.is_contestant() || !entry.ranked || entry.summary.trials == 0) return true;
  const auto& ratio = entry.may_be_faster() ? entry.summary.cost_ratio : ranked_ratio(one, entry);
  return ratio && ratio->interval.is_known() &&
         std::log(ratio->interval.high / ratio->interval.low) / 2 <= std::log1p(precision);
}

// Returns whether two contestants are equal by their quiet turns, while stalls of their own may still tell
// them apart.
bool may_stall(const CaseResult& one) {
  const auto is_open = [](const Pair& pair) { return pair.all_turns.has_value(); };
  return std::ranges::any_of(one.ranking.pairs, is_open) || std::ranges::any_of(one.costs.pairs, is_open);
}

// Returns whether a case distinguishes its contestants: its least difference is as small as the precision
// that was asked for. Costs count where they are known.
bool tells(const CaseResult& one, double precision) {
  const double enough = std::max(precision, one.ranking.measure.least);
  const bool has_figures = std::ranges::any_of(one.entries, [](const Entry& entry) {
    return entry.is_contestant() && entry.ranked && !entry.may_be_faster() && entry.summary.trials > 0;
  });
  return (!has_figures || one.ranking.least_difference <= enough) &&
         (!std::isfinite(one.costs.least_difference) || one.costs.least_difference <= enough);
}

}  // namespace

StoppingRule::StoppingRule(const Scenario& scenario, const Plan& plan, Time begun)
    : scenario_(&scenario),
      begun_(begun),
      round_began_(begun),
      longest_(plan.cases.size()),
      reached_(plan.cases.size()),
      taken_(plan.cases.size()) {
  Duration longest{};
  for (const CaseResult& one : plan.cases) {
    const auto contestants = static_cast<std::size_t>(std::ranges::count_if(
        one.entries, [](const Entry& entry) { return entry.is_contestant() && entry.unavailable.empty(); }));
    const Duration counting = counting_trial(one.plan.load) * static_cast<std::int64_t>(contestants);
    reserve_ += counting;
    longest = std::max(longest, counting);
    untimed_ |= one.plan.load.messages && !one.plan.load.turns;
  }
  reserve_ = std::min(reserve_, std::max<Duration>(longest, scenario.time / 4));
  shares_time_ = plan.by_rule && plan.cases.size() > 1 &&
                 std::ranges::all_of(plan.cases, [](const CaseResult& one) { return one.plan.load.turns; });
}

stats::Look StoppingRule::look_after(std::uint64_t rounds) {
  return rounds == kFirstLook    ? stats::Look::first
         : rounds == kSecondLook ? stats::Look::second
                                 : stats::Look::last;
}

bool StoppingRule::has_time(std::uint64_t rounds, Time now) {
  if (rounds == 0) return true;
  if (shares_time_) {
    for (std::size_t i = 0; i < longest_.size(); ++i)
      if (!reached_[i] && has_part(i, now)) return true;
    return false;
  }
  longest_round_ = std::max(longest_round_, Duration(now - round_began_));
  round_began_ = now;
  return has_time_for(longest_round_, now);
}

bool StoppingRule::has_part(std::size_t case_index, Time now) const {
  if (!shares_time_) return true;
  const auto going = std::ranges::count_if(reached_, [](const auto& look) { return !look.has_value(); });
  return longest_[case_index] == Duration{} || has_time_for(going * longest_[case_index], now);
}

void StoppingRule::took(std::size_t case_index, Duration generation) {
  longest_[case_index] = std::max(longest_[case_index], generation);
}

bool StoppingRule::has_time_for(Duration round, Time now) const {
  return now + (untimed_ ? 2 : 1) * round + reserve_ <= begun_ + scenario_->time;
}

void StoppingRule::look(RaceResult so_far, Time now) {
  const stats::Look look = look_after(so_far.rounds);
  for (CaseResult& one : so_far.cases) one.look = look;
  judge(so_far);
  for (std::size_t i = 0; i < so_far.cases.size(); ++i) {
    if (reached_[i]) continue;
    CaseResult& one = so_far.cases[i];
    const auto precise = [&](const Entry& entry) { return is_precise(one, entry, scenario_->precision); };
    const bool is_enough = rounds_of(one) >= kFirstLook && tells(one, scenario_->precision) &&
                           !may_stall(one) && std::ranges::all_of(one.entries, precise) &&
                           std::ranges::none_of(one.thresholds, &ThresholdFinding::more_rounds_decide);
    if (is_enough) reached_[i] = look;
    taken_[i].push_back({.look = look,
                         .rounds = rounds_begun(one),
                         .at_s = std::chrono::duration<double>(now - begun_).count(),
                         .precise = is_enough,
                         .uneven = uneven_contestants(one),
                         .latency = one.latency,
                         .ranking = std::move(one.ranking),
                         .costs = std::move(one.costs)});
  }
}

bool StoppingRule::reached() const {
  return std::ranges::all_of(reached_, [](const auto& look) { return look.has_value(); });
}

}  // namespace joust::race

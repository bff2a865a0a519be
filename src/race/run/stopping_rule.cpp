// SPDX-License-Identifier: MIT
#include "race/run/stopping_rule.hpp"

#include <algorithm>
#include <cmath>

#include "race/figures/ranking.hpp"
#include "race/figures/uneven_turns.hpp"
#include "race/judgement/judge.hpp"
#include "race/model/entries.hpp"
#include "stats/decision.hpp"
#include "stats/intervals.hpp"

namespace joust::race {
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

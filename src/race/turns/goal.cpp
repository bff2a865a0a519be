// SPDX-License-Identifier: MIT
#include "race/turns/goal.hpp"

#include <algorithm>
#include <cmath>

#include "race/judgement/ranking.hpp"
#include "race/race.hpp"
#include "stats/intervals.hpp"

namespace joust::race {
namespace {

// Fewer generations sample too little of what differs from start to start.
constexpr std::uint64_t kFewestGenerations = 5;
constexpr std::uint64_t kRoundsBetweenLooks = 4;
constexpr Duration kCountingTrial = std::chrono::milliseconds(800);
constexpr Duration kStart = std::chrono::milliseconds(300);  // and end, of both processes

Duration counting_trial(const LoadPlan& load) {
  return load.turns ? kCountingTrial : kStart + load.warmup + load.duration.value_or(Duration{});
}

// A bound does not become a figure by more rounds, so there the costs must be precise.
bool is_precise(const CaseResult& one, const Entry& entry, double precision) {
  if (!entry.is_contestant() || !entry.ranked || entry.summary.trials == 0) return true;
  const auto& ratio = entry.at_least ? entry.summary.cost_ratio : ranked_ratio(one, entry);
  return ratio && ratio->interval.is_known() &&
         std::log(ratio->interval.high / ratio->interval.low) / 2 <= std::log1p(precision);
}

}  // namespace

Goal::Goal(const Scenario& scenario, const Plan& plan, Time begun)
    : scenario_(scenario), begun_(begun), round_began_(begun) {
  std::size_t most = 0;
  for (const CaseResult& one : plan.cases) {
    const auto contestants = static_cast<std::size_t>(std::ranges::count_if(
        one.entries, [](const Entry& entry) { return entry.is_contestant() && entry.unavailable.empty(); }));
    most = std::max(most, contestants);
    reserve_ += counting_trial(one.plan.load) * static_cast<std::int64_t>(contestants);
    untimed_ |= !one.plan.load.duration;
  }
  const std::uint64_t needed = stats::values_for(stats::Family(most, kLooks).of_each());
  first_look_ = std::max(kFewestGenerations, needed);
}

bool Goal::is_look(std::uint64_t rounds) const {
  for (std::size_t look = 0; look < kEarlyLooks; ++look)
    if (rounds == first_look_ + look * kRoundsBetweenLooks) return true;
  return false;
}

bool Goal::has_time(std::uint64_t rounds, Time now) {
  if (rounds == 0) return true;
  longest_round_ = std::max(longest_round_, Duration(now - round_began_));
  round_began_ = now;
  return has_time_for(longest_round_, now);
}

bool Goal::has_time_for(Duration round, Time now) const {
  return now + (untimed_ ? 2 : 1) * round + reserve_ <= begun_ + scenario_.time;
}

bool Goal::precise(RaceResult so_far) const {
  judge(so_far);
  return std::ranges::all_of(so_far.cases, [&](const CaseResult& one) {
    return std::ranges::all_of(
        one.entries, [&](const Entry& entry) { return is_precise(one, entry, scenario_.precision); });
  });
}

}  // namespace joust::race

// SPDX-License-Identifier: MIT
#include "race/judgement/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "base/words.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/utilisation.hpp"
#include "race/figures/wording.hpp"
#include "race/judgement/verdict.hpp"
#include "race/model/entries.hpp"

namespace joust::race {
namespace {

using Names = std::vector<std::string>;

// The two figures by which contestants are compared.
enum class By : std::uint8_t { figure, cost };

// Returns nothing for contestants that cannot be compared. A server that polls has no cost.
std::optional<Pair> pair_of(const std::string& name, const std::string& other, By by, const CaseResult& one) {
  if (by == By::figure) return one.ranking.of(name, other);
  const bool polls = find_entry(one, name)->server_polls() || find_entry(one, other)->server_polls();
  return polls ? std::nullopt : one.costs.of(name, other);
}

bool greater_is_better(By by, const CaseResult& one) {
  return by == By::figure && !one.ranked_by_latency();
}

// Returns whether it is known that `name` is better than `other`.
bool beats(const std::string& name, const std::string& other, By by, const CaseResult& one) {
  const auto pair = pair_of(name, other, by, one);
  return pair && pair->decision == stats::Decision::differ &&
         (pair->ratio.estimate > 1) == greater_is_better(by, one);
}

// Returns the contestants than which none of the others is known to be better.
Names unbeaten(const Names& names, By by, const CaseResult& one) {
  Names best;
  for (const std::string& name : names)
    if (std::ranges::none_of(names, [&](const std::string& other) { return beats(other, name, by, one); }))
      best.push_back(name);
  return best;
}

// Says by how much a contestant differs from another one: "it is 1.25x epoll (1.20 to 1.30)".
std::string difference(const Pair& pair, By by, const CaseResult& one) {
  if (by == By::cost)
    return fmt::format("a {} costs it {}x the {}CPU time of {} ({})", one.plan.unit(),
                       ratio_words(pair.ratio.estimate, 3), one.plan.files ? "" : "server ", in_list(pair.b),
                       interval_words(pair.ratio.interval, 3));
  if (one.ranked_by_latency())
    return fmt::format("its {} is {}", one.latency->words,
                       times_text(pair.ratio, "", "that of " + in_list(pair.b)));
  return fmt::format("it is {}", times_text(pair.ratio, find_entry(one, pair.a)->at_least ? "at least " : "",
                                            in_list(pair.b)));
}

// Lists the others than which the contestant is known to be better.
std::string lead_over(const Names& others, const std::string& name, By by, const CaseResult& one) {
  Names texts;
  for (const std::string& other : others)
    if (beats(name, other, by, one)) texts.push_back(difference(*pair_of(name, other, by, one), by, one));
  return join(texts);
}

// Joins names: "a or b", "a, b or c".
std::string any_of(const Names& names) {
  Names quoted;
  for (const std::string& name : names) quoted.push_back(in_list(name));
  const Names first(quoted.begin(), quoted.end() - 1);
  return first.empty() ? quoted.back() : fmt::format("{} or {}", join(first), quoted.back());
}

Names candidates(const CaseResult& one) {
  Names names;
  for (const Entry* entry : contestants_of(one))
    if (entry->summary.trials > 0 && (entry->ranked || entry->at_least))
      names.push_back(entry->contestant.name);
  return names;
}

bool is_limited_by_client(const Names& names, const CaseResult& one) {
  return std::ranges::any_of(names, [&](const std::string& name) { return find_entry(one, name)->at_least; });
}

std::string best_by_figure(const std::string& best, const Names& all, const CaseResult& one) {
  Names dearer_than, not_beaten;
  for (const std::string& other : all) {
    if (beats(other, best, By::cost, one))
      dearer_than.push_back(difference(*pair_of(best, other, By::cost, one), By::cost, one));
    if (other != best && !beats(best, other, By::figure, one)) not_beaten.push_back(in_list(other));
  }
  return fmt::format("{}: {}{}{}{}{}", in_list(best), lead_over(all, best, By::figure, one),
                     dearer_than.empty() ? "" : ", but ", join(dearer_than),
                     not_beaten.empty() ? "" : "; not told apart from ", join(not_beaten));
}

// `tied`: the contestants that the figure which ranks does not tell apart.
std::string best_by_cost(const std::string& best, const Names& tied, const CaseResult& one) {
  const std::string why = is_limited_by_client(tied, one) ? "the client was the limit, and by cost"
                          : one.ranked_by_latency()
                              ? fmt::format("the {} tells none better, and by cost", one.latency->words)
                              : "the throughput tells none better, and by cost";
  return fmt::format("{}: {} {}", in_list(best), why, lead_over(tied, best, By::cost, one));
}

// The greatest number of times the rounds that would decide a pair of these. Empty if all are decided.
std::optional<double> rounds_for(const Names& names, const CaseResult& one) {
  std::optional<double> times;
  for (const By by : {By::figure, By::cost})
    for (std::size_t a = 0; a < names.size(); ++a)
      for (std::size_t b = a + 1; b < names.size(); ++b) {
        const auto pair = pair_of(names[a], names[b], by, one);
        if (!pair || pair->decision != stats::Decision::undecided) continue;
        const stats::Measure& measure = by == By::cost ? one.costs.measure : one.ranking.measure;
        times = std::max(times.value_or(1), stats::rounds_to_decide(pair->ratio, measure));
      }
  return times;
}

bool are_equal(const Names& names, const CaseResult& one) {
  for (std::size_t a = 0; a < names.size(); ++a)
    for (std::size_t b = a + 1; b < names.size(); ++b) {
      const auto pair = pair_of(names[a], names[b], By::figure, one);
      if (!pair || pair->decision != stats::Decision::equal) return false;
    }
  return true;
}

std::string none_is_best(const Names& names, const RaceResult& race, const CaseResult& one) {
  const std::optional<double> times = rounds_for(names, one);
  if (!times && !are_equal(names, one))
    return fmt::format("nothing can be advised about {}: not all of them could be compared", any_of(names));
  if (!times)
    return fmt::format("{}: either will do, they are equal within {}", any_of(names),
                       percent(one.ranking.measure.equal, 1));
  const std::string more = what_would_decide(*times, race, one);
  if (std::isfinite(*times) && is_limited_by_client(names, one))
    return fmt::format(
        "{}: not decided, because the client was the limit: each answers what it sends, and more work for "
        "each message (-p work --work 10us) would show which is better",
        any_of(names));
  if (more.empty())
    return fmt::format(
        "nothing can be advised about {}: the noise is too large for so few rounds; race for longer "
        "(--time), or on a quieter machine",
        any_of(names));
  return fmt::format("{}: not decided, so either may do; {}", any_of(names), more);
}

std::string choice(const RaceResult& race, const CaseResult& one) {
  const Names all = candidates(one);
  if (all.empty()) return "no contestant can be ranked";
  if (all.size() == 1) return fmt::format("{} alone can be ranked, so nothing is compared", all.front());
  const Names best = unbeaten(all, By::figure, one);
  if (best.empty()) return "the decisions contradict each other, so nothing can be advised";
  if (best.size() == 1) return best_by_figure(best.front(), all, one);
  const Names cheapest = unbeaten(best, By::cost, one);
  if (cheapest.size() == 1) return best_by_cost(cheapest.front(), best, one);
  return none_is_best(cheapest.empty() ? best : cheapest, race, one);
}

}  // namespace

std::string advice_of(const RaceResult& race, const CaseResult& one) {
  for (const CheckResult& check : one.checks)
    if (check.invalidates) return fmt::format("nothing can be advised: {}", check.detail);
  if (!race.complete) return fmt::format("nothing can be advised: {}", race.incomplete);
  const std::string rate = one.ranked_by_latency()
                               ? fmt::format("at {} messages/s, ", format_rate(one.plan.load.rate_per_s))
                               : std::string();
  const std::size_t cpus = count_of_cpus(race.cpus.server);
  const std::string place = cpus == 0 ? "" : fmt::format("with {} for the server, ", counted(cpus, "CPU"));
  return fmt::format("{}{}{}", rate, place, choice(race, one));
}

}  // namespace joust::race

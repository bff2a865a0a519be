// SPDX-License-Identifier: MIT
#include "race/judgement/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/summary.hpp"
#include "race/figures/wording.hpp"
#include "race/judgement/sentences.hpp"
#include "race/model/result.hpp"

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

// Says by how much a contestant is better: "it has 1.25x the throughput of epoll (1.20 to 1.30)".
std::string difference(const Pair& pair, By by, const CaseResult& one) {
  if (by == By::cost) return "it needs " + cost_text(pair, one);
  return fmt::format(
      "it has {}",
      times_text(pair.ratio, find_entry(one, pair.a)->may_be_faster() ? Known::least : Known::both,
                 fmt::format("the {} of {}", figure_words(one), in_list(pair.b))));
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
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return find_entry(one, name)->may_be_faster(); });
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
  const std::string why = is_limited_by_client(tied, one)
                              ? "the client was the limit, and by cost"
                              : fmt::format("the {} tells none better, and by cost", figure_words(one));
  return fmt::format("{}: {} {}", in_list(best), why, lead_over(tied, best, By::cost, one));
}

// Lists what is probable of these, by cost: "io-uring probably needs 15 % less CPU for a message than ...".
std::string probably_cheaper(const Names& names, const CaseResult& one) {
  Names texts;
  for (const std::string& name : names)
    for (const std::string& other : names) {
      if (other == name) continue;
      const auto pair = pair_of(name, other, By::cost, one);
      if (pair && pair->decision == stats::Decision::probable && pair->ratio.estimate < 1)
        texts.push_back(fmt::format("{} probably needs {}", in_list(name), cost_text(*pair, one)));
    }
  return join(texts);
}

// Returns whether this is true of every two of these, by the figure that ranks. All of them were compared
// then.
template <typename IsTrue>
bool for_each_pair(const Names& names, const CaseResult& one, IsTrue is_true) {
  for (std::size_t a = 0; a < names.size(); ++a)
    for (std::size_t b = a + 1; b < names.size(); ++b) {
      const auto pair = pair_of(names[a], names[b], By::figure, one);
      if (!pair || !is_true(*pair)) return false;
    }
  return true;
}

Advice none_is_best(const Names& names, const CaseResult& one) {
  const auto is_known = [](const Pair& pair) { return pair.ratio.is_known(); };
  const auto is_equal = [](const Pair& pair) { return pair.decision == stats::Decision::equal; };
  if (!for_each_pair(names, one, is_known) || one.ranking.least_difference > stats::kTellsNothing)
    return {
        fmt::format("nothing can be advised about {}: the noise is too large for so few rounds; race for "
                    "longer (--time), or on a quieter machine",
                    any_of(names))};
  if (for_each_pair(names, one, is_equal))
    return {fmt::format("{}: either will do, they are equal within {}", any_of(names),
                        percent(one.ranking.measure.equal, 1)),
            true};
  if (is_limited_by_client(names, one))
    return {
        fmt::format("{}: not known, because the client was the limit: each answers what it sends, and more "
                    "work for each message (--work 10us) would show which is better",
                    any_of(names))};
  const std::string probably = probably_cheaper(names, one);
  return {fmt::format("{}: either. With this traffic no difference was found{}{}", any_of(names),
                      probably.empty() ? "" : "; ", probably)};
}

Advice choice(const CaseResult& one) {
  const Names all = candidates(one);
  if (all.empty()) return {"no contestant can be ranked"};
  if (all.size() == 1) return {fmt::format("{} alone can be ranked, so nothing is compared", all.front())};
  const Names best = unbeaten(all, By::figure, one);
  if (best.empty()) return {"the decisions contradict each other, so nothing can be advised"};
  if (best.size() == 1) return {best_by_figure(best.front(), all, one), true};
  const Names cheapest = unbeaten(best, By::cost, one);
  if (cheapest.size() == 1) return {best_by_cost(cheapest.front(), best, one), true};
  return none_is_best(cheapest.empty() ? best : cheapest, one);
}

}  // namespace

Advice advice_of(const RaceResult& race, const CaseResult& one) {
  for (const CheckResult& check : one.checks)
    if (check.invalidates) return {fmt::format("nothing can be advised: {}", check.detail)};
  if (!race.complete) return {fmt::format("nothing can be advised: {}", race.incomplete)};
  const std::string rate = one.ranked_by_latency()
                               ? fmt::format("at {} messages/s, ", format_rate(one.plan.load.rate_per_s))
                               : std::string();
  const std::size_t cpus = count_of_cpus(race.cpus.server);
  const std::string place = cpus == 0 ? "" : fmt::format("with {} for the server, ", counted(cpus, "CPU"));
  const Advice chosen = choice(one);
  return {fmt::format("{}{}{}", rate, place, chosen.text), chosen.names_one};
}

}  // namespace joust::race

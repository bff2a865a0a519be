// SPDX-License-Identifier: MIT
#include "race/judgement/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/disturbance.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/summary.hpp"
#include "race/figures/wording.hpp"
#include "race/judgement/sentences.hpp"

namespace joust::race {
namespace {

// Returns the names of the contestants with results of which this is true.
std::vector<std::string> names_where(const CaseResult& one, bool Entry::*is_true) {
  std::vector<std::string> names;
  for (const Entry* entry : contestants_of(one))
    if (entry->*is_true && entry->summary.trials > 0) names.push_back(in_list(entry->contestant.name));
  return names;
}

// Returns the share of the CPUs that the hypervisor gave to others, if it disturbed the case.
std::optional<double> stolen_share(const CaseResult& one) {
  double steal = 0, known = 0;
  for (const Entry* entry : contestants_of(one))
    for (const Trial* trial : usable_trials(*entry))
      if (const auto share = steal_share(*trial)) steal += *share, ++known;
  if (known == 0 || steal / known <= kDisturbedSteal) return std::nullopt;
  return steal / known;
}

Cause of_machine(const CaseResult& one) {
  std::vector<std::string> used;
  for (const Strangers& strangers : strangers_in(one))
    if (strangers.share > kStrangers)
      used.push_back(fmt::format("{} of {}", percent(strangers.share), strangers.of));
  std::vector<std::string> takers;
  if (!used.empty()) takers.push_back("other programs used " + enumerate(used));
  if (const auto stolen = stolen_share(one))
    takers.push_back(fmt::format("other virtual machines took {} of the CPUs", percent(*stolen)));
  if (takers.empty()) return {};
  return {.sentence = enumerate(takers),
          .remedy = used.empty() ? "Race when the host is quieter."
                                 : "End them, or race when the machine is quiet."};
}

// Says how messages could cost the servers more, beside a client that costs the same. Servers of others do
// not speak the protocol work.
std::string more_work(const CaseResult& one) {
  const std::string& protocol = one.plan.protocol;
  if (std::ranges::any_of(contestants_of(one),
                          [](const Entry* entry) { return entry->contestant.external(); }))
    return "";
  if (protocol == "work") return ", or each message more work (a longer --work)";
  return protocol == "echo" || protocol == "uppercase" ? ", or each message more work (-p work --work 10us)"
                                                       : "";
}

Cause of_load(const CaseResult& one) {
  const auto bounds = names_where(one, &Entry::at_least), unknown = names_where(one, &Entry::limit_unknown);
  if (bounds.empty() && unknown.empty()) return {};
  if (!bounds.empty() && one.plan.load.interval.count() > 0)
    return {.sentence = fmt::format("{} kept pace with the schedule, and may be faster", enumerate(bounds)),
            .remedy = "Compare latency and CPU."};
  std::vector<std::string> parts;
  if (!bounds.empty())
    parts.push_back(fmt::format(
        "the client was the limit of {}: so much this client can drive, and the servers may differ by more",
        enumerate(bounds)));
  if (!unknown.empty())
    parts.push_back(
        fmt::format("whether the client or the server was the limit is not known of {}", enumerate(unknown)));
  return {.sentence = join(parts, "; "),
          .remedy = fmt::format("To compare servers, give the client more CPUs{}.", more_work(one))};
}

// Returns whether several contestants have figures that may be compared.
bool compares(const CaseResult& one) {
  return std::ranges::count_if(contestants_of(one), [](const Entry* entry) {
           return entry->summary.trials > 0 && (entry->ranked || entry->may_be_faster());
         }) > 1;
}

Cause of_rounds(const RaceResult& race, const CaseResult& one) {
  const auto has_failed = [&](int id) {
    const auto check = std::ranges::find(one.checks, id, &CheckResult::id);
    return check != one.checks.end() && check->verdict != Verdict::pass;
  };
  if (!compares(one) || !(has_failed(8) || has_failed(9))) return {};
  const std::uint64_t rounds = rounds_of(one);
  const double least = one.ranking.least_difference;
  std::string sees = "the noise is not known";
  if (std::isfinite(least) && least < stats::kMostShown)
    sees = least > stats::kTellsNothing
               ? fmt::format("differences by a factor of {:.2g} and more can be seen", 1 + least)
               : fmt::format("differences of {} and more can be seen", percent(least, least < 0.1 ? 1 : 0));
  const bool by_rounds = race.scenario.rounds > 0;
  return {
      .sentence = fmt::format("From {}: {}", counted(rounds, one.plan.load.turns ? "start" : "round"), sees),
      .remedy = fmt::format("Race longer ({}).", by_rounds ? "--rounds" : "--time")};
}

// Returns what all checks with a reason found together, or an empty sentence.
Cause made_of(Reason reason, const RaceResult& race, const CaseResult& one) {
  switch (reason) {
    case Reason::machine:
      return of_machine(one);
    case Reason::load:
      return of_load(one);
    case Reason::rounds:
      return of_rounds(race, one);
    case Reason::replies:
    case Reason::set_up:
      return {};
  }
  std::unreachable();
}

// Makes the first letter of a sentence a capital one, but not that of a name.
std::string begun(std::string sentence, const CaseResult& one) {
  const bool is_name = std::ranges::any_of(contestants_of(one), [&](const Entry* entry) {
    return sentence.starts_with(in_list(entry->contestant.name));
  });
  if (!is_name && !sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] -= 'a' - 'A';
  return sentence;
}

}  // namespace

bool is_limited_by_client(const CaseResult& one) {
  return !names_where(one, &Entry::at_least).empty() || !names_where(one, &Entry::limit_unknown).empty();
}

std::vector<Cause> causes_of(const RaceResult& race, const CaseResult& one) {
  std::vector<Cause> causes;
  if (std::ranges::none_of(contestants_of(one), [](const Entry* entry) { return entry->summary.trials > 0; }))
    return causes;  // each contestant has its reason
  const auto add = [&](Cause cause) {
    if (cause.sentence.empty()) return;
    cause.sentence = begun(std::move(cause.sentence), one);
    causes.push_back(std::move(cause));
  };
  for (const Reason reason :
       {Reason::machine, Reason::load, Reason::replies, Reason::rounds, Reason::set_up}) {
    Cause made = made_of(reason, race, one);
    std::vector<Cause> own;  // what only one check knows
    for (const CheckResult& check : one.checks) {
      const Check& row = *find_check(static_cast<std::uint64_t>(check.id));
      if (check.verdict == Verdict::pass || check.invalidates || row.reason != reason) continue;
      made.checks.push_back(check.id);
      for (const std::string& warning : check.warnings)
        own.push_back({.sentence = warning,
                       .remedy = &warning == &check.warnings.back() ? std::string(row.remedy) : "",
                       .checks = {check.id}});
    }
    add(std::move(made));
    for (Cause& cause : own) add(std::move(cause));
  }
  return causes;
}

}  // namespace joust::race

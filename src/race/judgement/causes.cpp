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

using Failing = std::vector<const CheckResult*>;

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

// Returns the cause that the first warning names, with the remedy of its check.
Cause by_first_warning(const Failing& failing) {
  for (const CheckResult* check : failing)
    if (!check->warnings.empty())
      return {.sentence = check->warnings.front(),
              .remedy = std::string(find_check(static_cast<std::uint64_t>(check->id))->remedy)};
  return {};
}

Cause of_machine(const CaseResult& one, const Failing& failing) {
  std::vector<std::string> used;
  for (const Strangers& strangers : strangers_in(one))
    if (strangers.share > kStrangers)
      used.push_back(fmt::format("{} of {}", percent(strangers.share), strangers.of));
  std::vector<std::string> takers;
  if (!used.empty()) takers.push_back("other programs used " + enumerate(used));
  if (const auto stolen = stolen_share(one))
    takers.push_back(fmt::format("other virtual machines took {} of the CPUs", percent(*stolen)));
  if (takers.empty()) return by_first_warning(failing);
  return {.sentence = enumerate(takers),
          .remedy = used.empty() ? "Race when the host is quieter."
                                 : "End them, or race when the machine is quiet."};
}

// Returns whether the messages may be exchanged for those of work, which servers of others do not speak.
bool may_work(const CaseResult& one) {
  const std::string& protocol = one.plan.protocol;
  const bool is_ours = std::ranges::none_of(contestants_of(one),
                                            [](const Entry* entry) { return entry->contestant.external(); });
  return is_ours && (protocol == "echo" || protocol == "uppercase" || protocol == "work");
}

Cause of_load(const CaseResult& one, const Failing& failing) {
  const auto bounds = names_where(one, &Entry::at_least), unknown = names_where(one, &Entry::limit_unknown);
  if (bounds.empty() && unknown.empty()) return by_first_warning(failing);
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
          .remedy = fmt::format("To compare servers, give the client more CPUs{}.",
                                may_work(one) ? ", or each message more work (-p work --work 10us)" : "")};
}

bool is_about_too_few(const CheckResult& check) {
  return check.id == 8 || check.id == 9 || check.detail.starts_with("nothing to check");
}

Cause of_rounds(const RaceResult& race, const CaseResult& one, const Failing& failing) {
  if (std::ranges::none_of(failing, [](const CheckResult* check) { return is_about_too_few(*check); }))
    return by_first_warning(failing);
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

// Contestants that are not ranked are told by the verdict, each with its reason.
Cause of_replies(const Failing& failing) {
  Failing without_bars = failing;
  std::erase_if(without_bars, [](const CheckResult* check) { return !check->bars.empty(); });
  return by_first_warning(without_bars);
}

Cause cause_of(Reason reason, const RaceResult& race, const CaseResult& one, const Failing& failing) {
  switch (reason) {
    case Reason::machine:
      return of_machine(one, failing);
    case Reason::load:
      return of_load(one, failing);
    case Reason::replies:
      return of_replies(failing);
    case Reason::rounds:
      return of_rounds(race, one, failing);
    case Reason::set_up:
      return by_first_warning(failing);
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
  for (const Reason reason :
       {Reason::machine, Reason::load, Reason::replies, Reason::rounds, Reason::set_up}) {
    Failing failing;
    for (const CheckResult& check : one.checks)
      if (check.verdict != Verdict::pass && !check.invalidates &&
          find_check(static_cast<std::uint64_t>(check.id))->reason == reason)
        failing.push_back(&check);
    Cause cause = failing.empty() ? Cause{} : cause_of(reason, race, one, failing);
    if (cause.sentence.empty()) continue;
    cause.sentence = begun(std::move(cause.sentence), one);
    for (const CheckResult* check : failing) cause.checks.push_back(check->id);
    causes.push_back(std::move(cause));
  }
  return causes;
}

}  // namespace joust::race

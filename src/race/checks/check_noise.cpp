// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "base/text.hpp"
#include "race/checks/checks.hpp"
#include "race/checks/findings.hpp"
#include "race/checks/interference.hpp"
#include "race/judgement/ranking.hpp"
#include "race/judgement/summary.hpp"
#include "race/judgement/wording.hpp"
#include "race/scenario/cpu_list.hpp"
#include "stats/drift.hpp"
#include "stats/ties.hpp"

namespace joust::race {
namespace {

// An effect is accepted if its probability by chance is below this.
constexpr double kChance = 0.01;
// The order of two rounds proves nothing: shuffling them has too few outcomes.
constexpr std::size_t kRoundsThatShowOrder = 3;

std::vector<stats::Observation> observations_of(const CaseResult& one) {
  std::vector<stats::Observation> all;
  const Figure ranked = ranked_by(one).figure;
  for (std::size_t i = 0; i < one.entries.size(); ++i)
    if (one.entries[i].kind != EntryKind::ceiling)
      for (const Trial* trial : usable_trials(one.entries[i]))
        if (const auto figure = ranked(*trial); figure > 0.0)
          all.push_back(
              {.contestant = i, .round = trial->round, .position = trial->position, .figure = *figure});
  return all;
}

// Half the width of a ratio's interval, relative to the ratio.
double half_width(const Estimate& ratio) {
  return ratio.interval.width() / 2 / ratio.median;
}

// Warns if processes of the race may run on the same CPU and take time from each other.
void check_apart(const CpuPlan& plan, Findings& findings) {
  if (plan.server.empty() || plan.client.empty()) return;  // not recorded
  if (plan.server == "any" || plan.client == "any") {
    findings.warn("nothing keeps server ({}) and client ({}) from running on the same CPU",
                  cpus_text(plan.server), cpus_text(plan.client));
    return;
  }
  const std::set<int> of_client = cpus_in(plan.client);
  std::vector<std::string> shared;
  for (const int cpu : cpus_in(plan.server))
    if (of_client.contains(cpu)) shared.push_back(fmt::format("{}", cpu));
  if (!shared.empty())
    findings.warn("server and client share CPU {}: each takes time from the other", join(shared, ","));
}

// Warns if a polling kernel thread has no CPU of its own beside its loop. Without such a CPU the kernel
// decides where the thread runs: on one of its owner's CPUs, or on any.
void check_kernel_threads(const CpuPlan& plan, const Entry& entry, Findings& findings) {
  const auto look = [&](const char* side, bool polled, std::uint64_t loops, const std::string& list) {
    const std::size_t cpus = cpus_in(list).size();
    if (!polled || cpus == 0 || cpus >= 2 * loops) return;
    findings.warn(
        "{}: its {} has {} for {} and as many polling threads of the kernel, which take time from others "
        "(--{}-cpus)",
        entry.contestant.name, side, counted(cpus, "CPU"), counted(loops, "loop"), side);
  };
  look("server", entry.server_polled, entry.contestant.server.threads, plan.server);
  look("client", entry.client_polled, entry.contestant.client.threads, plan.client);
}

// A race with few rounds reaches less confidence, or its intervals are widened: see stats::compare.
void check_rounds(std::uint64_t rounds, const stats::Family& family, Findings& findings) {
  const std::size_t enough = stats::values_for(family.of_each());
  if (rounds >= enough) return findings.say("{}", counted(rounds, "round"));
  const double together = family.together(stats::place_of_centre(rounds, family.of_each()).coverage);
  const std::string few =
      fmt::format("{} for {} ({} together takes {})", counted(rounds, "round"),
                  counted(family.pairs(), "comparison"), percent(stats::kTogether), counted(enough, "round"));
  if (rounds < 2)
    findings.warn("{}: nothing is told", few);
  else if (together >= stats::kBarelyTogether)
    findings.warn("{}: the intervals hold together with {}", few, percent(together, 1));
  else
    findings.warn(
        "{}: the intervals are widened, which supposes that small deviations are more frequent than large "
        "ones",
        few);
}

}  // namespace

CheckResult check_same_twice(const RaceResult&, const CaseResult& one) {
  Findings findings(4, "the same twice (A/A)");
  const auto ratio = reference_to_itself(one, ranked_by(one).figure);
  if (!ratio) {
    findings.warn("the reference has no second entry with a result, so it is not compared with itself");
    return findings.take();
  }
  if (!ratio->is_known()) {
    findings.warn("{} against itself in {} round: two are needed to tell the noise", one.reference,
                  ratio->rounds);
    return findings.take();
  }
  const std::string figures =
      fmt::format("{} against itself: {} ({})", one.reference, ratio_words(ratio->estimate, 3),
                  interval_words(ratio->interval, 3));
  if (one.reference_differs)
    findings.warn("{}: it seems to differ from itself, so differences of up to {} are not told", figures,
                  spread_text(one.least_difference));
  else if (stats::aa_spread(*ratio) > kCoarse)
    findings.warn("{}: this machine is noisy, see check 9 for the difference that is told", figures);
  else
    findings.say("{}", figures);
  return findings.take();
}

CheckResult check_order(const RaceResult& race, const CaseResult& one) {
  Findings findings(5, "order and drift");
  const std::vector<stats::Observation> all = observations_of(one);
  std::set<std::size_t> rounds;
  for (const stats::Observation& each : all) rounds.insert(each.round);
  if (rounds.size() < kRoundsThatShowOrder) {
    findings.warn("nothing to check: {} measured, and it takes {} to tell an effect from chance",
                  counted(rounds.size(), "round"), kRoundsThatShowOrder);
    findings.say("random order, seed {}", race.seed);
    return findings.take();
  }
  const auto judge = [&](const char* what, const stats::Effect& effect) {
    if (effect.chance < kChance && effect.spread > stats::kLeastDifference)
      findings.warn("the {} mattered: {} between the best and the worst, p={:.3f}", what,
                    spread_text(effect.spread, 1), effect.chance);
    else
      findings.say("no effect of the {} beyond chance ({}, p={:.2f})", what, spread_text(effect.spread, 1),
                   effect.chance);
  };
  judge("position in the round", stats::position_effect(all, race.seed));
  if (one.plan.load.turns)  // compared turn by turn, so what differs between generations cancels out
    findings.say("rounds differed by {}", spread_text(stats::round_effect(all, race.seed).spread, 1));
  else
    judge("round", stats::round_effect(all, race.seed));
  findings.say("random order, seed {}", race.seed);
  return findings.take();
}

CheckResult check_interference(const RaceResult& race, const CaseResult& one) {
  Findings findings(7, "interference");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  const std::size_t disturbed = check_steal(one, findings);
  check_rest(one, findings);
  check_throttling(one, findings);
  check_clock(one, findings);
  check_apart(race.cpus, findings);
  for (const std::string& remark : race.cpus.remarks) findings.warn("{}", remark);
  for (const Entry* entry : contestants_of(one)) check_kernel_threads(race.cpus, *entry, findings);
  if (race.rounds_again > 0) findings.say("{} run again", counted(race.rounds_again, "round"));
  if (disturbed > 0 && race.scenario.quick) findings.say("a quick race runs no round again");
  return findings.take();
}

CheckResult check_enough(const RaceResult& race, const CaseResult& one) {
  Findings findings(8, "enough rounds and samples");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  const std::uint64_t rounds = std::min(race.rounds, rounds_of(one));
  check_rounds(rounds, one.family, findings);
  if (one.ranked_by_latency() && one.latency != &kP99Latency)
    findings.warn("too few messages in each trial for a p99 latency: ranked by the {}", one.latency->words);
  double widest = 0;
  std::string of;
  for (const Entry* entry : contestants_of(one)) {
    if (entry->summary.trials == 0) continue;
    if (!one.plan.files && !entry->summary.latency_ns.p99 && !one.ranked_by_latency())
      findings.warn("{}: too few messages for a p99 latency", entry->contestant.name);
    if (entry->summary.trials < rounds)
      findings.warn("{}: {} of {} rounds have a result", entry->contestant.name, entry->summary.trials,
                    rounds);
    const auto& ratio = ranked_ratio(one, *entry);
    if (!ratio || !ratio->interval.is_known() || half_width(*ratio) <= widest) continue;
    widest = half_width(*ratio);
    of = entry->contestant.name;
  }
  if (widest > kCoarse)
    findings.warn("the interval of {} is wide: its ratio ± {}; more rounds narrow it", in_list(of),
                  spread_text(widest));
  else if (widest > 0)
    findings.say("widest interval: {} ± {}", in_list(of), percent(widest, 1));
  return findings.take();
}

CheckResult check_ties(const RaceResult&, const CaseResult& one) {
  Findings findings(9, "tie rule");
  if (!std::isfinite(one.least_difference)) {
    findings.warn("no difference can be told, as the noise is not known");
    return findings.take();
  }
  const bool has_places = std::ranges::any_of(
      contestants_of(one), [](const Entry* entry) { return entry->tie_group.has_value(); });
  if (one.least_difference > stats::kTellsNothing && !has_places)
    findings.warn("nothing can be told here: more rounds are needed");
  else if (one.least_difference > stats::kTellsNothing)
    findings.warn("only differences by a factor of {:.2g} and more can be told here",
                  1 + one.least_difference);
  else if (one.least_difference > kCoarse)
    findings.warn("differences below {} cannot be told here", percent(one.least_difference, 1));
  else
    findings.say("differences of {} and more can be told", percent(one.least_difference, 1));
  return findings.take();
}

}  // namespace joust::race

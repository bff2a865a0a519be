// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/disturbance.hpp"
#include "race/figures/wording.hpp"
#include "race/model/result.hpp"
#include "race/set_up/placement.hpp"

namespace joust::race {
namespace {

// The least steal time that is reported, as a share of the CPUs.
constexpr double kStealWorthAWord = 0.01;

// The CPU time that a server may use while it is stopped, as a share of the time of its own turns. Stopping
// takes some CPU time itself.
constexpr double kMostAtRest = 0.01;

// The smallest change of a clock rate that is reported. Smaller changes are errors of the reading.
constexpr double kClockChange = 1.02;

// Checks the time that the hypervisor gave to other guests. Returns how many trials lost too much of it.
std::size_t check_steal(const CaseResult& one, Findings& findings) {
  double worst = 0, sum = 0;
  std::size_t trials = 0, unknown = 0, too_short = 0, disturbed = 0;
  const char* of = "the machine";
  for (const Entry& entry : one.entries)
    for (const Trial* trial : usable_trials(entry)) {
      const auto steal = steal_share(*trial);
      unknown += !trial->machine;
      too_short += trial->machine && !steal;
      if (!steal) continue;
      if (trial->pinned) of = "the pinned CPUs";
      worst = std::max(worst, *steal);
      sum += *steal;
      disturbed += *steal > kDisturbedSteal;
      ++trials;
    }
  const double mean = trials == 0 ? 0 : sum / static_cast<double>(trials);
  if (unknown > 0)
    findings.doubt("the machine's CPU time could not be read in {}", counted(unknown, "trial"));
  if (too_short > 0)
    findings.say("steal time is not known in {} with short windows", counted(too_short, "trial"));
  if (worst > kStealWorthAWord)
    findings.doubt(
        "other virtual machines on this host took {} of {} on average and {} in the worst trial (steal time, "
        "{} of {} above 5 %)",
        percent(mean, 1), of, percent(worst, 1), disturbed, counted(trials, "trial"));
  else if (trials > 0)
    findings.say("steal time was {} of {} at most", percent(worst, 1), of);
  return disturbed;
}

// Checks the CPU time that a contestant used while others had their turns.
void check_rest(const CaseResult& one, Findings& findings) {
  for (const Entry& entry : one.entries) {
    double used_s = 0, turns_s = 0;
    for (const Trial* trial : usable_trials(entry)) {
      used_s += trial->cpu_s_at_rest;
      turns_s += trial->turns.empty() ? 0 : trial->time_of_usage_s();
    }
    if (turns_s > 0 && used_s > kMostAtRest * turns_s)
      findings.warn("{}: its server used {:.3g} s of CPU time while it was stopped, which was others' time",
                    entry.contestant.name, used_s);
  }
}

// Checks whether a CPU quota ran out.
void check_throttling(const CaseResult& one, Findings& findings) {
  double time_s = 0;
  std::size_t throttled = 0;
  for (const Entry& entry : one.entries)
    for (const Trial* trial : usable_trials(entry)) {
      if (!trial->throttled || trial->throttled->times == 0) continue;
      ++throttled;
      time_s += trial->throttled->time_s;
    }
  if (throttled > 0)
    findings.warn("the CPU quota of the control group held up {}, for {:.3g} s in all",
                  counted(throttled, "trial"), time_s);
}

// Checks whether clock rates changed. A change is no fault, because the rounds spread it over all
// contestants.
void check_clock(const CaseResult& one, Findings& findings) {
  std::optional<ClockRates> clock;
  for (const Entry& entry : one.entries)
    for (const Trial* trial : usable_trials(entry))
      if (trial->clock) clock = clock ? *clock | *trial->clock : *trial->clock;
  if (clock && clock->most_mhz > clock->least_mhz * kClockChange)
    findings.say("the CPUs' clocks ran at {:.2f} to {:.2f} GHz", clock->least_mhz / 1e3,
                 clock->most_mhz / 1e3);
}

// Warns if processes of the race may run on the same CPU and take time from each other.
void check_apart(const CpuPlan& plan, Findings& findings) {
  if (plan.apart || plan.server.empty() || plan.client.empty()) return;  // apart, or not recorded
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

}  // namespace

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

}  // namespace joust::race

// SPDX-License-Identifier: MIT
#include <set>

#include "base/words.hpp"
#include "race/checks/checks.hpp"
#include "race/checks/findings.hpp"
#include "race/checks/interference.hpp"
#include "race/model/entries.hpp"
#include "race/set_up/cpu_list.hpp"

namespace joust::race {
namespace {

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

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "base/units.hpp"
#include "doctor/findings.hpp"

namespace joust::doctor {
namespace {

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

// Returns the greatest steal of the two moments that were looked at.
std::optional<double> steal_now(const CpuUse& use) {
  std::optional<double> most;
  for (const auto& moment : {use.waiting, use.measuring})
    if (moment && moment->total_s() > 0) most = std::max(most.value_or(0), moment->steal_fraction());
  return most;
}

std::string names_of(const std::vector<BusyProcess>& busy) {
  constexpr std::size_t kMostNames = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(busy.size(), kMostNames); ++i)
    text += fmt::format("{}{} ({}) {:.2f}", i == 0 ? ": " : ", ", printable(busy[i].name), busy[i].process,
                        busy[i].cpus);
  return text;
}

}  // namespace

Finding judge_hypervisor(const Facts& facts) {
  const std::string hypervisor(facts.environment.value("hypervisor"));
  Finding finding{.subject = "virtual machine", .level = Level::good, .found = hypervisor};
  if (hypervisor == "unknown") finding.level = Level::unknown;
  if (hypervisor == "none") finding.found = "no";
  if (hypervisor == "none" || hypervisor == "unknown") return finding;
  finding.level = Level::note;
  finding.effect =
      "other guests share caches, memory and perhaps the cores, which shows in no figure of this machine";
  finding.advice = "race on a machine of its own where differences of a few percent count";
  return finding;
}

Finding judge_container(const Facts& facts) {
  Finding finding{.subject = "container", .level = Level::good, .found = "none"};
  if (facts.container.empty()) return finding;
  finding.level = Level::note;
  finding.found = printable(facts.container);
  finding.effect =
      "its limits and filters hold for every contestant; programs outside of it have no name here";
  finding.advice =
      "race outside of it; or start it with --security-opt seccomp=unconfined --cap-add PERFMON "
      "--ulimit nofile=1048576";
  return finding;
}

Finding judge_steal(const Facts& facts) {
  constexpr double kWorthAWarning = 0.01;
  Finding finding{.subject = "steal", .level = Level::unknown, .found = "unknown"};
  const auto now = steal_now(facts.use);
  if (!now) return finding;
  finding.level = *now >= kWorthAWarning ? Level::warning : Level::good;
  finding.found = percent(*now);
  if (facts.use.since_boot)
    finding.found += fmt::format(" now, {} since boot", percent(facts.use.since_boot->steal_fraction()));
  if (finding.level == Level::good) return finding;
  finding.effect = "other virtual machines take CPU time from contestants in the middle of their turns";
  finding.advice = "race at another time, or longer (--time); check 7 of each race says how much it was";
  return finding;
}

Finding judge_other_load(const Facts& facts) {
  constexpr double kWorthAWarning = 0.1;  // CPUs
  Finding finding{.subject = "other load", .level = Level::unknown, .found = "unknown"};
  const CpuUse& use = facts.use;
  if (!use.waiting || use.waiting_s <= 0) return finding;
  const double cpus = use.waiting->busy_s() / use.waiting_s;
  finding.level = cpus >= kWorthAWarning ? Level::warning : Level::good;
  finding.found = fmt::format("{:.2f} CPUs{}", cpus, names_of(use.busy));
  if (finding.level == Level::good) return finding;
  finding.effect = "other programs take CPU time and caches from contestants, so intervals are wider";
  const auto first = std::ranges::find(use.busy, false, &BusyProcess::of_kernel);
  if (first == use.busy.end()) {
    finding.advice = "find the programs with top, and end them or wait";
    return finding;
  }
  finding.mend = fmt::format("kill -STOP {}", first->process);
  finding.undo = fmt::format("kill -CONT {}", first->process);
  finding.advice = "stop only what may wait";
  return finding;
}

Finding judge_swap(const Facts& facts) {
  constexpr std::uint64_t kWorthANote = 64 << 20;
  const std::uint64_t used = facts.memory.swap_used_bytes;
  Finding finding{.subject = "swap", .level = Level::good, .found = "none in use"};
  if (used == 0) return finding;
  finding.found = format_bytes(static_cast<double>(used)) + " in use";
  if (used < kWorthANote) return finding;
  finding.level = Level::note;
  finding.effect = "the machine was short of memory: a page that comes back from disk stalls its program";
  if (facts.memory.available_bytes <= used) {
    finding.advice = "end programs that use much memory: it has no room for what is in swap";
    return finding;
  }
  finding.mend = "sudo swapoff -a";
  finding.undo = "sudo swapon -a";
  return finding;
}

}  // namespace joust::doctor

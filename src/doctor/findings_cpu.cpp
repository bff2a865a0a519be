// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "doctor/findings.hpp"
#include "measure/affinity.hpp"

namespace joust::doctor {
namespace {

constexpr const char* kUnknown = "unknown";

std::size_t cores_of(const Facts& facts) {
  std::set<std::pair<int, int>> cores;
  for (const CpuPlace& place : facts.cpus) cores.emplace(place.package, place.core);
  return cores.size();
}

std::string writes(std::string_view value, std::string_view file) {
  return fmt::format("echo {} | sudo tee {}", value, file);
}

}  // namespace

Finding judge_cores(const Facts& facts) {
  constexpr std::size_t kEnough = 4;
  const std::size_t cores = cores_of(facts);
  Finding finding{.subject = "cores", .level = Level::good, .found = counted(cores, "core")};
  if (cores >= kEnough) return finding;
  finding.level = cores < 2 ? Level::warning : Level::note;
  finding.effect = cores < 2
                       ? "server and load share a core, so throughput is that of both together"
                       : "server and load have a core each, which more threads and other programs share";
  finding.advice = fmt::format("race on a machine with {} cores or more", kEnough);
  return finding;
}

Finding judge_allowed_cpus(const Facts& facts) {
  std::vector<int> allowed;
  for (const CpuPlace& place : facts.cpus) allowed.push_back(place.cpu);
  const std::string mine = format_cpus(allowed), online(facts.environment.value("online_cpus"));
  Finding finding{.subject = "allowed CPUs", .level = Level::good, .found = mine};
  if (online == kUnknown || online == mine) return finding;
  finding.level = Level::note;
  finding.found = fmt::format("{} of {}", mine, online);
  finding.effect = "a race sees only these CPUs, while the system's own work may run on others";
  finding.mend = fmt::format("taskset -pc {} $$", online);
  finding.undo = fmt::format("taskset -pc {} $$", mine);
  finding.advice = "a container or a control group may forbid it";
  return finding;
}

Finding judge_smt(const Facts& facts) {
  constexpr const char* kFile = "/sys/devices/system/cpu/smt/control";
  const std::size_t siblings = facts.cpus.size() - cores_of(facts);
  const bool on = siblings > 0 || facts.environment.value("smt") == "on";
  Finding finding{.subject = "SMT", .level = Level::good, .found = "no two CPUs share a core"};
  if (!on) return finding;
  finding.level = Level::note;
  finding.found =
      siblings > 0 ? fmt::format("{} CPUs on {}", facts.cpus.size(), counted(cores_of(facts), "core")) : "on";
  finding.effect =
      "what runs on the other hardware thread of a core takes units and caches from a contestant";
  finding.mend = writes("off", kFile);
  finding.undo = writes("on", kFile);
  return finding;
}

Finding judge_governor(const Facts& facts) {
  constexpr const char* kFiles = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
  const std::string governor(facts.environment.value("governor"));
  Finding finding{.subject = "governor", .level = Level::good, .found = governor};
  if (governor == kUnknown) finding.level = Level::unknown;
  if (governor == kUnknown || governor == "performance") return finding;
  finding.level = Level::warning;
  finding.effect = "the clock rate follows the load, so a contestant that waits more runs slower";
  finding.mend = writes("performance", kFiles);
  finding.undo = writes(governor, kFiles);
  if (!governor.contains('+')) return finding;
  finding.mend = fmt::format("grep . {} > governors; {}", kFiles, finding.mend);
  finding.undo = R"(while IFS=: read -r file was; do echo "$was" | sudo tee "$file"; done < governors)";
  return finding;
}

Finding judge_turbo(const Facts& facts) {
  struct Switch {
    const char* item;
    const char* file;
    const char* on;
    const char* off;
  };
  constexpr std::array kSwitches{
      Switch{"intel_no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo", "0", "1"},
      Switch{"cpu_boost", "/sys/devices/system/cpu/cpufreq/boost", "1", "0"}};
  for (const Switch& one : kSwitches) {
    const std::string_view value = facts.environment.value(one.item);
    if (value == one.off) return {.subject = "turbo", .level = Level::good, .found = "off"};
    if (value != one.on) continue;
    return {.subject = "turbo",
            .level = Level::note,
            .found = "on",
            .effect = "the clock rate depends on heat and on how many cores work, and falls within a race",
            .mend = writes(one.off, one.file),
            .undo = writes(one.on, one.file)};
  }
  return {.subject = "turbo", .level = Level::unknown, .found = kUnknown};
}

Finding judge_clock_source(const Facts& facts) {
  constexpr const char* kFile = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  const std::set<std::string_view> slow{"hpet", "acpi_pm", "jiffies", "refined-jiffies"};
  const std::string source(facts.environment.value("clocksource"));
  Finding finding{.subject = "clock source", .level = Level::good, .found = source};
  if (source == kUnknown) finding.level = Level::unknown;
  if (!slow.contains(source)) return finding;
  finding.level = Level::warning;
  finding.effect = "each time stamp is a system call of about a microsecond, which slows the load";
  for (const char* better : {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"})
    if (finding.mend.empty() && (" " + facts.clock_sources + " ").contains(fmt::format(" {} ", better)))
      finding.mend = writes(better, kFile);
  if (finding.mend.empty())
    finding.advice = "the kernel offers no better one here; its log says why (dmesg | grep -i tsc)";
  else
    finding.undo = writes(source, kFile);
  return finding;
}

Finding judge_softirq_time(const Facts& facts) {
  const std::string counted_as(facts.environment.value("softirq_time"));
  Finding finding{.subject = "softirq time", .level = Level::good, .found = counted_as};
  if (counted_as == kUnknown) finding.level = Level::unknown;
  if (counted_as != kSoftirqApart) return finding;
  finding.level = Level::warning;
  finding.effect = "most of what TCP does is in no CPU time of a message: compare the column `busy` instead";
  finding.advice = "boot x86 with tsc=noirqtime on the kernel's command line; to undo it, boot without";
  return finding;
}

}  // namespace joust::doctor

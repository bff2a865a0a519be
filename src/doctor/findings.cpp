// SPDX-License-Identifier: MIT
#include "doctor/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "joust/socket_options.hpp"
#include "measure/affinity.hpp"

// Each function looks at the facts of one subject, which it leaves to the table at the end.
namespace joust::doctor {
namespace {

constexpr std::string_view kUnknown = "unknown";

Finding good(std::string found) {
  return {.level = Level::good, .found = std::move(found)};
}

// The value of an item is the finding: nothing to mend, or unknown.
Finding good_or_unknown(std::string_view value) {
  return {.level = value == kUnknown ? Level::unknown : Level::good, .found = std::string(value)};
}

std::string writes(std::string_view value, std::string_view file) {
  return fmt::format("echo {} | sudo tee {}", value, file);
}

std::string sets(std::string_view name, std::string_view value) {
  return fmt::format(R"(sudo sysctl -w {}="{}")", name, value);
}

// CPUs and clocks.

std::size_t cores_of(const Facts& facts) {
  std::set<std::pair<int, int>> cores;
  for (const CpuPlace& place : facts.cpus) cores.emplace(place.package, place.core);
  return cores.size();
}

Finding cores(const Facts& facts) {
  constexpr std::size_t kEnough = 4;
  const std::size_t count = cores_of(facts);
  if (count >= kEnough) return good(counted(count, "core"));
  const bool shared = count < 2;
  return {.level = shared ? Level::warning : Level::note,
          .found = counted(count, "core"),
          .effect = shared ? "server and load share a core, so throughput is that of both together"
                           : "server and load have a core each, which more threads and other programs share",
          .advice = fmt::format("race on a machine with {} cores or more", kEnough)};
}

Finding allowed_cpus(const Facts& facts) {
  std::vector<int> allowed;
  for (const CpuPlace& place : facts.cpus) allowed.push_back(place.cpu);
  const std::string mine = format_cpus(allowed), online(facts.environment.value("online_cpus"));
  if (online == kUnknown || online == mine) return good(mine);
  return {.level = Level::note,
          .found = fmt::format("{} of {}", mine, online),
          .effect = "a race sees only these CPUs, while the system's own work may run on others",
          .mend = fmt::format("taskset -pc {} $$", online),
          .undo = fmt::format("taskset -pc {} $$", mine),
          .advice = "a container or a control group may forbid it"};
}

Finding smt(const Facts& facts) {
  constexpr const char* kFile = "/sys/devices/system/cpu/smt/control";
  const std::size_t count = cores_of(facts), siblings = facts.cpus.size() - count;
  if (siblings == 0 && facts.environment.value("smt") != "on") return good("no two CPUs share a core");
  return {
      .level = Level::note,
      .found = siblings > 0 ? fmt::format("{} CPUs on {}", facts.cpus.size(), counted(count, "core")) : "on",
      .effect = "what runs on the other hardware thread of a core takes units and caches from a contestant",
      .mend = writes("off", kFile),
      .undo = writes("on", kFile)};
}

Finding governor(const Facts& facts) {
  constexpr const char* kFiles = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
  const std::string_view name = facts.environment.value("governor");
  if (name == kUnknown || name == "performance") return good_or_unknown(name);
  Finding finding{.level = Level::warning,
                  .found = std::string(name),
                  .effect = "the clock rate follows the load, so a contestant that waits more runs slower",
                  .mend = writes("performance", kFiles),
                  .undo = writes(name, kFiles)};
  if (!name.contains('+')) return finding;
  finding.mend = fmt::format("grep . {} > governors; {}", kFiles, finding.mend);
  finding.undo = R"(while IFS=: read -r file was; do echo "$was" | sudo tee "$file"; done < governors)";
  return finding;
}

Finding turbo(const Facts& facts) {
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
    if (value == one.off) return good("off");
    if (value != one.on) continue;
    return {.level = Level::note,
            .found = "on",
            .effect = "the clock rate depends on heat and on how many cores work, and falls within a race",
            .mend = writes(one.off, one.file),
            .undo = writes(one.on, one.file)};
  }
  return good_or_unknown(kUnknown);
}

Finding clock_source(const Facts& facts) {
  constexpr const char* kFile = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  const std::set<std::string_view> slow{"hpet", "acpi_pm", "jiffies", "refined-jiffies"};
  const std::string_view source = facts.environment.value("clocksource");
  if (!slow.contains(source)) return good_or_unknown(source);
  Finding finding{.level = Level::warning,
                  .found = std::string(source),
                  .effect = "each time stamp is a system call of about a microsecond, which slows the load"};
  for (const char* better : {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"})
    if (finding.mend.empty() && (" " + facts.clock_sources + " ").contains(fmt::format(" {} ", better)))
      finding.mend = writes(better, kFile);
  if (finding.mend.empty())
    finding.advice = "the kernel offers no better one here; its log says why (dmesg | grep -i tsc)";
  else
    finding.undo = writes(source, kFile);
  return finding;
}

Finding softirq_time(const Facts& facts) {
  const std::string_view counted_as = facts.environment.value("softirq_time");
  if (counted_as != kSoftirqApart) return good_or_unknown(counted_as);
  return {.level = Level::warning,
          .found = kSoftirqApart,
          .effect = "most of what TCP does is in no CPU time of a message: compare the column `busy` instead",
          .advice = "boot x86 with tsc=noirqtime on the kernel's command line; to undo it, boot without"};
}

// Others on the machine.

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

Finding hypervisor(const Facts& facts) {
  const std::string_view name = facts.environment.value("hypervisor");
  if (name == kUnknown) return good_or_unknown(name);
  if (name == "none") return good("no");
  return {.level = Level::note,
          .found = std::string(name),
          .effect =
              "other guests share caches, memory and perhaps the cores, which shows in no figure of "
              "this machine",
          .advice = "race on a machine of its own where differences of a few percent count"};
}

Finding container(const Facts& facts) {
  if (facts.container.empty()) return good("none");
  return {
      .level = Level::note,
      .found = printable(facts.container),
      .effect = "its limits and filters hold for every contestant; programs outside of it have no name here",
      .advice =
          "race outside of it; or start it with --security-opt seccomp=unconfined --cap-add "
          "PERFMON --ulimit nofile=1048576"};
}

Finding steal(const Facts& facts) {
  constexpr double kWorthAWarning = 0.01;
  const auto now = steal_now(facts.use);
  if (!now) return good_or_unknown(kUnknown);
  std::string found = percent(*now);
  if (facts.use.since_boot)
    found += fmt::format(" now, {} since boot", percent(facts.use.since_boot->steal_fraction()));
  if (*now < kWorthAWarning) return good(found);
  return {.level = Level::warning,
          .found = found,
          .effect = "other virtual machines take CPU time from contestants in the middle of their turns",
          .advice = "race at another time, or longer (--time); check 7 of each race says how much it was"};
}

Finding other_load(const Facts& facts) {
  constexpr double kWorthAWarning = 0.1;  // CPUs
  const CpuUse& use = facts.use;
  if (!use.waiting || use.waiting_s <= 0) return good_or_unknown(kUnknown);
  const double cpus = use.waiting->busy_s() / use.waiting_s;
  const std::string found = fmt::format("{:.2f} CPUs{}", cpus, names_of(use.busy));
  if (cpus < kWorthAWarning) return good(found);
  Finding finding{
      .level = Level::warning,
      .found = found,
      .effect = "other programs take CPU time and caches from contestants, so intervals are wider",
      .advice = "find the programs with top, and end them or wait"};
  const auto first = std::ranges::find(use.busy, false, &BusyProcess::of_kernel);
  if (first == use.busy.end()) return finding;
  finding.mend = fmt::format("kill -STOP {}", first->process);
  finding.undo = fmt::format("kill -CONT {}", first->process);
  finding.advice = "stop only what may wait";
  return finding;
}

Finding swap_use(const Facts& facts) {
  constexpr std::uint64_t kWorthANote = 64 << 20;
  const std::uint64_t used = facts.memory.swap_used_bytes;
  if (used == 0) return good("none in use");
  const std::string found = format_bytes(static_cast<double>(used)) + " in use";
  if (used < kWorthANote) return good(found);
  Finding finding{
      .level = Level::note,
      .found = found,
      .effect = "the machine was short of memory: a page that comes back from disk stalls its program"};
  if (facts.memory.available_bytes <= used) {
    finding.advice = "end programs that use much memory: it has no room for what is in swap";
    return finding;
  }
  finding.mend = "sudo swapoff -a";
  finding.undo = "sudo swapon -a";
  return finding;
}

// Limits.

std::string number_or_unlimited(std::uint64_t number) {
  return number == UINT64_MAX ? "unlimited" : std::to_string(number);
}

Finding quota(const Facts& facts) {
  if (!facts.quota) return good("none");
  const CpuQuota& limit = *facts.quota;
  std::string found = fmt::format("{:.3g} CPUs", limit.cpus);
  if (facts.throttled && facts.throttled->times > 0)
    found += fmt::format(", reached {}", counted(facts.throttled->times, "time"));
  // Exceeded only in moments in which every CPU works.
  if (limit.cpus >= static_cast<double>(facts.cpus.size())) return good(found);
  return {
      .level = Level::warning,
      .found = found,
      .effect = "when server and load together use more, the kernel stops both for tens of milliseconds",
      .mend = fmt::format("echo {} | sudo tee '{}'", limit.no_limit, limit.file),
      .undo = fmt::format("echo '{}' | sudo tee '{}'", limit.value, limit.file),
      .advice = facts.container.empty() ? "" : "or outside of the container: docker update --cpus 0 NAME"};
}

Finding open_files(const Facts& facts) {
  constexpr std::uint64_t kPlenty = 65536, kMend = 1 << 20;
  const std::string soft = number_or_unlimited(facts.files.soft),
                    hard = number_or_unlimited(facts.files.hard);
  if (facts.files.hard >= kPlenty) return good(hard);
  return {.level = Level::note,
          .found = hard,
          .effect = fmt::format("a side can have about {} connections at most", grouped(facts.files.hard)),
          .mend = fmt::format("sudo prlimit --pid $$ --nofile={0}:{0}", kMend),
          .undo = fmt::format("sudo prlimit --pid $$ --nofile={}:{}", soft, hard)};
}

Finding local_ports(const Facts& facts) {
  constexpr std::uint64_t kPlenty = 16000;
  constexpr const char* kName = "net.ipv4.ip_local_port_range";
  const LocalPorts& ports = facts.ports;
  const std::string found = fmt::format("{} to {}", ports.first, ports.last);
  if (ports.count() >= kPlenty) return good(found);
  return {.level = Level::note,
          .found = found,
          .effect = fmt::format("loads have {} ports for each address, so many connections need several",
                                grouped(ports.count())),
          .mend = sets(kName, "32768 60999"),
          .undo = sets(kName, fmt::format("{} {}", ports.first, ports.last))};
}

Finding time_wait(const Facts& facts) {
  constexpr std::uint64_t kWorthANote = 4;  // a share of the ports: one in so many
  const std::string found = counted(facts.time_wait, "closed connection");
  if (facts.time_wait < facts.ports.count() / kWorthANote) return good(found);
  return {.level = Level::note,
          .found = found,
          .effect = "each holds a port for a minute: loads that connect anew look longer for a free one",
          .mend = "sleep 60"};
}

Finding congestion_control(const Facts& facts) {
  constexpr const char* kName = "net.ipv4.tcp_congestion_control";
  const std::string name(facts.environment.value("tcp_congestion_control")), own(SocketOptions{}.congestion);
  if (name == kUnknown || name == own) return good_or_unknown(name);
  const bool paces = name.starts_with("bbr"), is_refused = !facts.no_congestion.empty();
  const char* const pacing = paces ? ", which sends by a timer" : "";
  return {.level = paces && is_refused ? Level::warning : Level::note,
          .found = name,
          .effect = is_refused
                        ? fmt::format("all contestants use {}{}, and not {}: {}", name, pacing, own,
                                      facts.no_congestion)
                        : fmt::format("joust's engines use {}, servers that a race starts by a command use "
                                      "{}{}",
                                      own, name, pacing),
          .mend = sets(kName, own),
          .undo = sets(kName, name)};
}

// Abilities of this program on this machine.

constexpr const char* kWithoutSeccomp =
    "start the container with --security-opt seccomp=unconfined; to undo it, without";

Finding build_type(const Facts& facts) {
  const std::string type(facts.environment.value("build_type"));
  const std::string_view sanitizers = facts.environment.value("sanitizers");
  const bool sanitized = sanitizers != "none" && sanitizers != kUnknown;
  if (type == "Release" && !sanitized) return good(type);
  return {.level = Level::warning,
          .found = sanitized ? fmt::format("{}, sanitizers {}", type, sanitizers) : type,
          .effect = sanitized
                        ? "sanitizers slow some engines more than others: no race of this build is ranked"
                        : "code that is not optimized slows joust's own parts more than the kernel's",
          .mend = "script/build",
          .advice = "then run build/release/joust"};
}

Finding io_uring(const Facts& facts) {
  constexpr const char* kName = "kernel.io_uring_disabled";
  const std::string& reason = facts.no_ring;
  if (reason.empty()) return good("a ring can be made");
  Finding finding{.level = Level::warning,
                  .found = reason,
                  .effect = "the engines io-uring and io-uring-pool cannot run, and races leave them out"};
  const std::string_view disabled = facts.environment.value("io_uring_disabled");
  if (disabled != kUnknown && disabled != "0") {
    finding.mend = fmt::format("sudo sysctl -w {}=0", kName);
    finding.undo = fmt::format("sudo sysctl -w {}={}", kName, disabled);
  } else if (reason.contains("ulimit -l")) {
    finding.mend = "sudo prlimit --pid $$ --memlock=unlimited:unlimited";
    finding.advice = "to undo it, use another shell";
  } else if (reason.contains("liburing")) {
    finding.mend = "script/setup uring && script/build";
    finding.undo = "sudo apt-get remove liburing-dev && script/build";
  } else if (!facts.container.empty() || facts.seccomp != 0) {
    finding.advice = kWithoutSeccomp;
  } else {
    finding.advice = "it needs Linux 5.19 or newer";
  }
  return finding;
}

Finding seccomp(const Facts& facts) {
  constexpr int kFilter = 2;
  if (facts.seccomp != kFilter) return good("no filter");
  return {.level = Level::note,
          .found = "a filter",
          .effect = "it looks at each system call, so engines that make many look slower than elsewhere",
          .advice = facts.container.empty() ? "run joust outside of the service or sandbox that has set it"
                                            : kWithoutSeccomp};
}

Finding call_count(const Facts& facts) {
  constexpr const char* kName = "kernel.perf_event_paranoid";
  constexpr std::string_view kSetting = "(it is ";
  const std::string& reason = facts.no_call_count;
  if (reason.empty()) return good("system calls can be counted");
  Finding finding{
      .level = Level::note, .found = reason, .effect = "races show no system calls for each message"};
  const std::size_t at = reason.find(kSetting);
  if (reason.contains(kName) && at != std::string::npos) {
    const std::size_t begin = at + kSetting.size();
    finding.mend = fmt::format("sudo sysctl -w {}=1", kName);
    finding.undo =
        fmt::format("sudo sysctl -w {}={}", kName, reason.substr(begin, reason.find(')', begin) - begin));
  } else {
    finding.advice = reason.contains("root") ? "race as root (sudo)" : "it needs another kernel";
  }
  if (!facts.container.empty())
    finding.advice = "start the container with --cap-add PERFMON --cap-add SYS_ADMIN";
  return finding;
}

struct Subject {
  std::string_view name;
  Finding (*look)(const Facts& facts);
};

constexpr Subject kSubjects[] = {
    {"build", build_type},
    {"other load", other_load},
    {"steal", steal},
    {"CPU quota", quota},
    {"cores", cores},
    {"allowed CPUs", allowed_cpus},
    {"SMT", smt},
    {"governor", governor},
    {"turbo", turbo},
    {"clock source", clock_source},
    {"softirq time", softirq_time},
    {"virtual machine", hypervisor},
    {"container", container},
    {"io_uring", io_uring},
    {"seccomp", seccomp},
    {"tracepoints", call_count},
    {"open files", open_files},
    {"local ports", local_ports},
    {"TIME_WAIT", time_wait},
    {"congestion control", congestion_control},
    {"swap", swap_use},
};

}  // namespace

std::vector<Finding> findings(const Facts& facts) {
  std::vector<Finding> all;
  for (const Subject& subject : kSubjects) all.emplace_back(subject.look(facts)).subject = subject.name;
  return all;
}

}  // namespace joust::doctor

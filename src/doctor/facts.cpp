// SPDX-License-Identifier: MIT
#include "doctor/facts.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "base/limits.hpp"
#include "engines/engine.hpp"
#include "measure/affinity.hpp"
#include "measure/machine_cpu.hpp"
#include "measure/proc_file.hpp"
#include "measure/processes.hpp"
#include "measure/syscall_counter.hpp"
#include "net/socket_options.hpp"

namespace joust::doctor {
namespace {

std::string text_of(const std::string& path) {
  return std::string(trimmed(read_proc_file(path).value_or("")));
}

// Returns the quota of one group; nothing if it has none.
std::optional<CpuQuota> quota_of(const ControlGroup& group) {
  double quota_us = 0, period_us = 0;
  CpuQuota quota;
  if (group.version == 2) {
    quota = {.file = group.folder + "cpu.max", .no_limit = "max"};
    quota.value = text_of(quota.file);
    std::istringstream(quota.value) >> quota_us >> period_us;  // "max 100000" has no number
  } else {
    quota = {.file = group.folder + "cpu.cfs_quota_us", .no_limit = "-1"};
    quota.value = text_of(quota.file);
    std::istringstream(quota.value) >> quota_us;
    std::istringstream(text_of(group.folder + "cpu.cfs_period_us")) >> period_us;
  }
  if (quota_us <= 0 || period_us <= 0) return std::nullopt;
  quota.cpus = quota_us / period_us;
  return quota;
}

std::optional<CpuQuota> least_quota(const std::string& root) {
  std::optional<CpuQuota> least;
  for (const ControlGroup& group : control_groups(root + "proc", root + "sys/fs/cgroup", "cpu")) {
    auto quota = quota_of(group);
    if (quota && (!least || quota->cpus < least->cpus)) least = std::move(quota);
  }
  return least;
}

// Returns the kind of the container that this process is in. Each kind leaves its own trace.
std::string container_of(const std::string& root) {
  std::error_code none;
  if (std::filesystem::exists(root + ".dockerenv", none)) return "Docker";
  if (std::filesystem::exists(root + "run/.containerenv", none)) return "Podman";
  if (const std::string kind = text_of(root + "run/systemd/container"); !kind.empty()) return kind;
  constexpr std::array<std::pair<const char*, const char*>, 4> kGroups{
      {{"kubepods", "Kubernetes"}, {"/docker", "Docker"}, {"/lxc", "LXC"}, {"containerd", "containerd"}}};
  const std::string groups = text_of(root + "proc/self/cgroup");
  for (const auto& [trace, kind] : kGroups)
    if (groups.contains(trace)) return kind;
  return {};
}

Memory read_memory(const std::string& root) {
  const std::string text = read_proc_file(root + "proc/meminfo").value_or("");
  const auto bytes = [&text](std::string_view key) {
    return leading_number(field_of(text, key).value_or("")) << 10;
  };
  const std::uint64_t all = bytes("SwapTotal:"), free = bytes("SwapFree:");
  return {.swap_used_bytes = all - std::min(all, free), .available_bytes = bytes("MemAvailable:")};
}

// Returns the connections in TIME_WAIT: "TCP: inuse 5 orphan 0 tw 2080 alloc 7 mem 1".
std::uint64_t read_time_wait(const std::string& root) {
  std::istringstream words(
      std::string(field_of(read_proc_file(root + "proc/net/sockstat").value_or(""), "TCP:").value_or("")));
  std::string word;
  while (words >> word)
    if (std::uint64_t number = 0; words >> number && word == "tw") return number;
  return 0;
}

OpenFiles read_open_files() {
  const rlimit limit = descriptor_limit();
  const auto number = [](rlim_t one) {
    return one == RLIM_INFINITY ? UINT64_MAX : static_cast<std::uint64_t>(one);
  };
  return {.soft = number(limit.rlim_cur), .hard = number(limit.rlim_max)};
}

// Returns why no ring can be made.
std::string why_no_ring() {
  const Engine* const engine = find_engine("io-uring");
  if (engine == nullptr) return "this program has no engine on io_uring";
  return engine->unavailable ? engine->unavailable() : "";
}

std::string why_no_congestion() {
  try {
    return congestion_refused(SocketOptions{}.congestion, AF_INET);
  } catch (const std::system_error& error) {
    return error.what();
  }
}

// Returns why no counter can be attached. It is tried on this thread, and counts nothing, because counting
// begins with an exec.
std::string why_no_call_count() {
  const auto counter = SyscallCounter::attach(0);
  return counter ? std::string() : counter.error();
}

// Returns the CPU time of each process so far.
std::map<pid_t, double> cpu_times_s() {
  std::map<pid_t, double> times;
  for (const pid_t process : all_processes())
    if (const auto facts = process_facts(process)) times[process] = facts->user_s + facts->system_s;
  return times;
}

std::vector<BusyProcess> busy_since(const std::map<pid_t, double>& before, double time_s) {
  constexpr double kWorthAName = 0.03;  // above what one tick of the kernel's clock makes of nothing
  constexpr pid_t kKernel = 2;          // the parent of the kernel's threads
  std::vector<BusyProcess> busy;
  for (const auto& [process, used_s] : cpu_times_s()) {
    const auto known = before.find(process);
    const double cpus = (used_s - (known == before.end() ? 0 : known->second)) / time_s;
    if (cpus < kWorthAName || process == ::getpid()) continue;
    const auto facts = process_facts(process);
    busy.push_back({.process = process,
                    .name = text_of("/proc/" + std::to_string(process) + "/comm"),
                    .cpus = cpus,
                    .of_kernel = process == kKernel || (facts && facts->parent == kKernel)});
  }
  std::ranges::sort(busy, std::ranges::greater{}, &BusyProcess::cpus);
  return busy;
}

}  // namespace

Facts read_facts(const std::string& root) {
  Facts facts;
  facts.environment = read_environment(root);
  facts.environment.items.push_back({"softirq_time", softirq_time(counted_share_of_sending()), false});
  facts.cpus = read_topology(allowed_cpus(), root);
  facts.clock_sources = text_of(root + "sys/devices/system/clocksource/clocksource0/available_clocksource");
  facts.quota = least_quota(root);
  facts.throttled = read_throttling(root);
  facts.memory = read_memory(root);
  facts.files = read_open_files();
  facts.ports = local_ports();
  facts.time_wait = read_time_wait(root);
  facts.seccomp = static_cast<int>(leading_number(
      field_of(read_proc_file(root + "proc/self/status").value_or(""), "Seccomp:").value_or("")));
  facts.no_ring = why_no_ring();
  facts.no_call_count = why_no_call_count();
  facts.no_congestion = why_no_congestion();
  facts.container = container_of(root);
  return facts;
}

void watch_others(Facts& facts, Duration time) {
  facts.use.since_boot = read_machine_cpu();
  const auto before = cpu_times_s();
  const auto machine = read_machine_cpu();
  const Time begun = Clock::now();
  std::this_thread::sleep_for(time);
  facts.use.waiting_s = std::chrono::duration<double>(Clock::now() - begun).count();
  if (const auto now = read_machine_cpu(); now && machine) facts.use.waiting = *now - *machine;
  facts.use.busy = busy_since(before, facts.use.waiting_s);
}

}  // namespace joust::doctor

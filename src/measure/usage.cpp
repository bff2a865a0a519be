// SPDX-License-Identifier: MIT
#include "measure/usage.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <algorithm>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "measure/proc_file.hpp"
#include "measure/processes.hpp"

namespace joust {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::uint64_t peak_memory_of(const std::string& process) {
  return peak_memory(read_proc_file("/proc/" + process + "/status").value_or(""),
                     read_proc_file("/proc/" + process + "/smaps_rollup").value_or(""));
}

std::uint64_t own_peak_memory() {
#ifdef __linux__
  return peak_memory_of("self");
#else
  rusage used{};
  checked(::getrusage(RUSAGE_SELF, &used), "getrusage()");
#ifdef __APPLE__
  constexpr std::uint64_t kUnit = 1;
#else
  constexpr std::uint64_t kUnit = 1024;
#endif
  return kUnit * static_cast<std::uint64_t>(used.ru_maxrss);
#endif
}

// Adds the CPU time of a process. /proc counts in ticks. A process's clock counts in nanoseconds, but does
// not separate user and system time.
void add_times(Usage& usage, pid_t process, const ProcessFacts& facts) {
  const double ticks_s = facts.user_s + facts.system_s;
  const double exact_s = cpu_time_s(process).value_or(ticks_s);
  const double user_s = ticks_s > 0 ? exact_s * facts.user_s / ticks_s : 0;
  usage.user_s += user_s + facts.ended_user_s;
  usage.system_s += exact_s - user_s + facts.ended_system_s;
}

void add_switches(Usage& usage, pid_t pid) {
  for (const pid_t thread : threads_of(pid)) {
    const std::string status =
        read_proc_file(fmt::format("/proc/{}/task/{}/status", pid, thread)).value_or("");
    usage.voluntary_switches += leading_number(field_of(status, "voluntary_ctxt_switches:").value_or(""));
    usage.involuntary_switches +=
        leading_number(field_of(status, "nonvoluntary_ctxt_switches:").value_or(""));
  }
}

}  // namespace

Usage usage_from(const rusage& used) {
  return {seconds(used.ru_utime), seconds(used.ru_stime), static_cast<std::uint64_t>(used.ru_nvcsw),
          static_cast<std::uint64_t>(used.ru_nivcsw), 0};
}

// Takes VmHWM, not ru_maxrss. The latter survives fork and exec, so a small server started by a big parent
// would be charged with the parent's memory (getrusage(2) does not say so; kernel/exec.c,
// setmax_mm_hiwater_rss()). But VmHWM is the sum of counters that threads keep to themselves for up to 64
// pages each (until Linux 6.2; later each CPU has one). So it may lack megabytes of a thousand threads. The
// rollup walks the page tables.
std::uint64_t peak_memory(std::string_view status, std::string_view rollup) {
  return 1024 * std::max(leading_number(field_of(status, "VmHWM:").value_or("")),
                         leading_number(field_of(rollup, "Rss:").value_or("")));
}

Usage operator-(const Usage& later, const Usage& earlier) {
  // A descendant or thread that ended takes its figures along, so a sum may shrink: a difference is never
  // below zero.
  const auto less = [](auto a, auto b) { return a > b ? a - b : decltype(a){}; };
  return {less(later.user_s, earlier.user_s), less(later.system_s, earlier.system_s),
          less(later.voluntary_switches, earlier.voluntary_switches),
          less(later.involuntary_switches, earlier.involuntary_switches), later.peak_memory_bytes};
}

Usage operator+(const Usage& later, const Usage& earlier) {
  return {later.user_s + earlier.user_s, later.system_s + earlier.system_s,
          later.voluntary_switches + earlier.voluntary_switches,
          later.involuntary_switches + earlier.involuntary_switches,
          std::max(later.peak_memory_bytes, earlier.peak_memory_bytes)};
}

Usage together(const Usage& one, const Usage& other) {
  Usage all = one + other;
  all.peak_memory_bytes = one.peak_memory_bytes + other.peak_memory_bytes;
  return all;
}

Usage scaled(const Usage& ticks, double cpu_s) {
  Usage usage = ticks;
  const double all_s = ticks.user_s + ticks.system_s;
  usage.user_s = all_s > 0 ? cpu_s * ticks.user_s / all_s : 0;
  usage.system_s = std::max(0.0, cpu_s - usage.user_s);  // a rounding error may be negative
  return usage;
}

Usage own_times() {
  Usage times;
  for (const auto whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    checked(::getrusage(whose, &used), "getrusage()");
    times = times + usage_from(used);
  }
  return times;
}

Usage own_usage() {
  Usage used = own_times();
  used.peak_memory_bytes = own_peak_memory();
  return used;
}

std::optional<Usage> usage_of_ended([[maybe_unused]] pid_t child) {
#ifdef __linux__
  // The C library's waitid() lacks the last parameter.
  siginfo_t info{};
  rusage used{};
  if (::syscall(SYS_waitid, P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT, &used) == 0 &&
      info.si_pid == child)
    return usage_from(used);
#endif
  return std::nullopt;
}

std::optional<Usage> usage_of_processes(std::span<const pid_t> processes) {
  std::optional<Usage> sum;
  for (const pid_t process : processes) {
    const auto facts = process_facts(process);
    if (!facts) continue;
    if (!sum) sum.emplace();
    add_times(*sum, process, *facts);
    add_switches(*sum, process);
    sum->peak_memory_bytes += peak_memory_of(std::to_string(process));
  }
  return sum;
}

}  // namespace joust

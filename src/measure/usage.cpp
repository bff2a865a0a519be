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
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/check.hpp"
#include "measure/proc_file.hpp"
#include "measure/process_clock.hpp"

namespace joust {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

Usage usage_from(const rusage& used) {
  return {seconds(used.ru_utime), seconds(used.ru_stime), static_cast<std::uint64_t>(used.ru_nvcsw),
          static_cast<std::uint64_t>(used.ru_nivcsw), 0};
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

// The numeric names in a directory of /proc, processes or threads; empty when it is gone.
std::vector<pid_t> numbers_in(const std::string& directory) {
  std::vector<pid_t> numbers;
  std::error_code gone;
  for (std::filesystem::directory_iterator entry(directory, gone), end; !gone && entry != end;
       entry.increment(gone))
    if (const auto number = leading_number(entry->path().filename().native()))
      numbers.push_back(static_cast<pid_t>(number));
  return numbers;
}

struct ProcessTimes {
  pid_t pid, parent;
  double user_s, system_s, children_user_s, children_system_s;
};

// The few fields of /proc/PID/stat that matter here, with those of children waited for (proc(5)).
std::optional<ProcessTimes> times_of(pid_t pid) {
  const auto stat = read_proc_file(fmt::format("/proc/{}/stat", pid));
  if (!stat) return std::nullopt;
  const std::size_t name_end = stat->rfind(')');  // a program's name may itself hold blanks and brackets
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat->substr(name_end + 1));
  std::string state, skipped;
  pid_t parent = 0;
  fields >> state >> parent;
  for (int field = 5; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0, children_user = 0, children_system = 0;
  fields >> user >> system >> children_user >> children_system;
  if (!fields) return std::nullopt;
  const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return ProcessTimes{pid,
                      parent,
                      user / ticks_per_second,
                      system / ticks_per_second,
                      children_user / ticks_per_second,
                      children_system / ticks_per_second};
}

// /proc counts in ticks, a process's clock in nanoseconds, but without the two parts.
void make_exact(ProcessTimes& times) {
  const double ticks_s = times.user_s + times.system_s;
  const double exact_s = cpu_time_s(times.pid).value_or(ticks_s);
  times.user_s = ticks_s > 0 ? exact_s * times.user_s / ticks_s : 0;
  times.system_s = exact_s - times.user_s;
}

// `root` and whoever descends from it. A process may end meanwhile; it is then left out.
std::vector<ProcessTimes> tree_of(pid_t root) {
  std::vector<ProcessTimes> others, tree;
  for (const pid_t pid : numbers_in("/proc"))
    if (const auto times = times_of(pid)) (pid == root ? tree : others).push_back(*times);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const pid_t parent = tree[i].pid;
    std::ranges::copy_if(others, std::back_inserter(tree),
                         [parent](const ProcessTimes& other) { return other.parent == parent; });
  }
  return tree;
}

void add_switches(Usage& usage, pid_t pid) {
  for (const pid_t thread : numbers_in(fmt::format("/proc/{}/task", pid))) {
    const std::string status =
        read_proc_file(fmt::format("/proc/{}/task/{}/status", pid, thread)).value_or("");
    usage.voluntary_switches += leading_number(field_of(status, "voluntary_ctxt_switches:").value_or(""));
    usage.involuntary_switches +=
        leading_number(field_of(status, "nonvoluntary_ctxt_switches:").value_or(""));
  }
}

}  // namespace

// VmHWM, not ru_maxrss: the latter survives fork and exec, so a small server started by a big parent would be
// charged with the parent's memory (getrusage(2) does not say so; kernel/exec.c, setmax_mm_hiwater_rss()).
// But it is summed up from counters that threads keep to themselves for up to 64 pages each (until Linux 6.2;
// later for each CPU), and so may lack megabytes of a thousand threads. The rollup walks the page tables.
std::uint64_t peak_memory(std::string_view status, std::string_view rollup) {
  return 1024 * std::max(leading_number(field_of(status, "VmHWM:").value_or("")),
                         leading_number(field_of(rollup, "Rss:").value_or("")));
}

Usage operator-(const Usage& later, const Usage& earlier) {
  // A descendant or thread that ended takes its figures along, so a sum may shrink: no use below zero.
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

std::vector<pid_t> process_tree(pid_t root) {
  std::vector<pid_t> processes;
  for (const ProcessTimes& process : tree_of(root)) processes.push_back(process.pid);
  return processes;
}

std::optional<Usage> usage_of_process_tree(pid_t root) {
  const std::vector<ProcessTimes> tree = tree_of(root);
  if (tree.empty()) return std::nullopt;
  Usage sum;
  for (ProcessTimes process : tree) {
    make_exact(process);
    sum.user_s += process.user_s + process.children_user_s;
    sum.system_s += process.system_s + process.children_system_s;
    add_switches(sum, process.pid);
    sum.peak_memory_bytes += peak_memory_of(std::to_string(process.pid));
  }
  return sum;
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#include "measure/processes.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include "measure/proc_file.hpp"

namespace joust {

namespace {

// Returns the numeric names in a directory of /proc, processes or threads; empty if the directory no longer
// exists.
std::vector<pid_t> numbered_in(const std::string& directory) {
  std::vector<pid_t> numbers;
  std::error_code gone;
  for (std::filesystem::directory_iterator entry(directory, gone), end; !gone && entry != end;
       entry.increment(gone))
    if (const auto number = leading_number(entry->path().filename().native()))
      numbers.push_back(static_cast<pid_t>(number));
  return numbers;
}

// Finds the children through all processes' parents: a kernel without CONFIG_PROC_CHILDREN lists no children.
std::vector<pid_t> children_by_parent(pid_t process) {
  std::vector<pid_t> children = all_processes();
  std::erase_if(children, [process](pid_t child) {
    const auto facts = process_facts(child);
    return !facts || facts->parent != process;
  });
  return children;
}

}  // namespace

std::optional<ProcessFacts> process_facts(pid_t process) {
  const auto stat = read_proc_file(fmt::format("/proc/{}/stat", process));
  if (!stat) return std::nullopt;
  const std::size_t name_end = stat->rfind(')');  // a program's name may itself hold blanks and brackets
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat->substr(name_end + 1));
  std::string skipped;
  const auto skip = [&](int count) {
    while (count-- > 0) fields >> skipped;
  };
  ProcessFacts facts;
  double ticks[4] = {};
  fields >> facts.state >> facts.parent;
  skip(9);
  for (double& time : ticks) fields >> time;
  skip(4);
  fields >> facts.began;
  if (!fields) return std::nullopt;
  static const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  facts.user_s = ticks[0] / ticks_per_second;
  facts.system_s = ticks[1] / ticks_per_second;
  facts.ended_user_s = ticks[2] / ticks_per_second;
  facts.ended_system_s = ticks[3] / ticks_per_second;
  return facts;
}

std::vector<pid_t> all_processes() {
  return numbered_in("/proc");
}

std::vector<pid_t> threads_of(pid_t process) {
  return numbered_in(fmt::format("/proc/{}/task", process));
}

std::vector<pid_t> children_of(pid_t process) {
  static const bool kernel_lists_them = ::access("/proc/thread-self/children", F_OK) == 0;
  if (!kernel_lists_them) return children_by_parent(process);
  std::vector<pid_t> children;
  for (const pid_t thread : threads_of(process)) {
    std::istringstream list(
        read_proc_file(fmt::format("/proc/{}/task/{}/children", process, thread)).value_or(""));
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

std::vector<pid_t> process_tree(std::span<const pid_t> roots) {
  std::vector<pid_t> tree;
  for (const pid_t root : roots)
    if (process_facts(root)) tree.push_back(root);
  for (std::size_t i = 0; i < tree.size(); ++i)
    for (const pid_t child : children_of(tree[i]))
      if (std::ranges::find(tree, child) == tree.end()) tree.push_back(child);
  return tree;
}

namespace {

#ifndef __APPLE__
std::optional<clockid_t> clock_of(pid_t process) {
  clockid_t clock{};
  if (::clock_getcpuclockid(process, &clock) != 0) return std::nullopt;
  return clock;
}
#else
std::optional<clockid_t> clock_of(pid_t /*process*/) {
  return std::nullopt;
}
#endif

std::optional<double> read_clock_s(clockid_t clock) {
  timespec used{};
  if (::clock_gettime(clock, &used) != 0) return std::nullopt;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace

std::optional<double> cpu_time_s(pid_t process) {
  const auto clock = clock_of(process);
  return clock ? read_clock_s(*clock) : std::nullopt;
}

std::string why_processes_have_no_figures() {
#ifdef __linux__
  return {};
#else
  return "the CPU time and memory of other processes are read from /proc, which only Linux has";
#endif
}

ProcessClock::ProcessClock(std::span<const pid_t> processes) {
  for (const pid_t process : processes)
    if (const auto clock = clock_of(process)) processes_.push_back({*clock, 0});
}

double ProcessClock::read_s() {
  double sum_s = 0;
  for (Process& process : processes_) {
    process.last_s = read_clock_s(process.clock).value_or(process.last_s);
    sum_s += process.last_s;
  }
  return sum_s;
}

ThreadTimes thread_times([[maybe_unused]] std::span<const pid_t> processes) {
  ThreadTimes times;
#ifdef __linux__
  for (const pid_t process : processes)
    for (const pid_t thread : threads_of(process))
      if (const auto line = read_proc_file(fmt::format("/proc/{}/task/{}/schedstat", process, thread)))
        times[thread] = leading_number(*line);
#endif
  return times;
}

std::optional<double> busiest_share(const ThreadTimes& before, const ThreadTimes& after, double all_s) {
  std::uint64_t sum = 0, most = 0;
  for (const auto& [thread, now] : after) {
    const auto earlier = before.find(thread);
    const std::uint64_t used = now - (earlier == before.end() ? 0 : std::min(now, earlier->second));
    sum += used;
    most = std::max(most, used);
  }
  if (sum == 0) return std::nullopt;
  return static_cast<double>(most) / std::max(static_cast<double>(sum), all_s * 1e9);
}

namespace {

#ifdef __linux__
std::string name_of(int policy) {
  constexpr std::array kNames{"other", "fifo", "rr", "batch", "iso", "idle", "deadline"};
  policy &= ~SCHED_RESET_ON_FORK;
  const auto place = static_cast<std::size_t>(policy);
  return place < kNames.size() ? kNames.at(place) : fmt::format("{}", policy);
}

std::optional<ThreadGroup> group_of(pid_t process, pid_t thread) {
  const auto status = read_proc_file(fmt::format("/proc/{}/task/{}/status", process, thread));
  if (!status) return std::nullopt;
  const auto cpus = field_of(*status, "Cpus_allowed_list:");
  const int policy = ::sched_getscheduler(thread);
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(thread));
  if (!cpus || policy < 0 || errno != 0) return std::nullopt;
  return ThreadGroup{.cpus = std::string(*cpus), .nice = nice, .policy = name_of(policy), .threads = 1};
}
#endif

}  // namespace

std::vector<ThreadGroup> thread_groups([[maybe_unused]] std::span<const pid_t> processes) {
  std::vector<ThreadGroup> groups;
#ifdef __linux__
  for (const pid_t process : processes)
    for (const pid_t thread : threads_of(process)) {
      const auto here = group_of(process, thread);
      if (!here) continue;
      const auto alike = std::ranges::find_if(groups, [&](const ThreadGroup& group) {
        return group.cpus == here->cpus && group.nice == here->nice && group.policy == here->policy;
      });
      if (alike == groups.end())
        groups.push_back(*here);
      else
        ++alike->threads;
    }
#endif
  return groups;
}

ThreadGroup own_thread_group() {
#ifdef __linux__
  return group_of(::getpid(), ::gettid()).value_or(ThreadGroup{});
#else
  return {};
#endif
}

}  // namespace joust

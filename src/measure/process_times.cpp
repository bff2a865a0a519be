// SPDX-License-Identifier: MIT
#include "measure/process_times.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "measure/proc_file.hpp"
#include "measure/process_tree.hpp"

namespace joust {
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

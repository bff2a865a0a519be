// SPDX-License-Identifier: MIT
#include "measure/thread_groups.hpp"

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

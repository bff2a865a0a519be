// SPDX-License-Identifier: MIT
#include "measure/thread_times.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "measure/proc_file.hpp"
#include "measure/process_tree.hpp"

namespace joust {

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

}  // namespace joust

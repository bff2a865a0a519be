// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#ifndef __linux__

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>

// Calls ppoll() without a signal mask, for counts of std::size_t, which nfds_t is on Linux only. The types
// make it an overload beside the system's own. On macOS, which has none, poll() takes its place; waits then
// end late, by up to 1 ms, never early.
inline int ppoll(pollfd* entries, std::size_t count, const timespec* timeout, std::nullptr_t /*mask*/) {
  const auto entries_count = static_cast<nfds_t>(count);
#ifdef __APPLE__
  if (timeout == nullptr) return ::poll(entries, entries_count, -1);
  const std::int64_t wanted_ms =
      std::int64_t{timeout->tv_sec} * 1000 + (std::int64_t{timeout->tv_nsec} + 999'999) / 1'000'000;
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return ::poll(entries, entries_count, static_cast<int>(std::min(wanted_ms, kMost)));
#else
  return ::ppoll(entries, entries_count, timeout, static_cast<const sigset_t*>(nullptr));
#endif
}

#endif

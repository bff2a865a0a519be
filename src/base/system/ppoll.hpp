// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#ifdef __APPLE__

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>

// poll() with a timeout of milliseconds in the place of ppoll(), which macOS lacks: waits end late, never
// early. The type of the last parameter makes this an overload beside the call of a later system.
inline int ppoll(pollfd* entries, std::size_t count, const timespec* timeout, std::nullptr_t /*mask*/) {
  const std::int64_t wanted_ms =
      std::int64_t{timeout->tv_sec} * 1000 + (std::int64_t{timeout->tv_nsec} + 999'999) / 1'000'000;
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return ::poll(entries, static_cast<nfds_t>(count), static_cast<int>(std::min(wanted_ms, kMost)));
}

#endif

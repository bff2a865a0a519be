// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <poll.h>

#include "base/fd.hpp"

namespace joust {

struct OpenPipe {
  Fd from, into;
};

// Opens a pipe by pipe2(), or on macOS by several calls; `flags` are O_CLOEXEC and O_NONBLOCK. Not open, with
// errno set, where the call fails.
OpenPipe open_pipe(int flags);

// A descriptor that a thread or a signal handler makes readable, and its reader makes unreadable again. It is
// an eventfd or, where the system has none, a pipe. Shared with processes that are forked later.
class EventDescriptor {
 public:
  EventDescriptor();  // throws std::system_error

  int fd() const { return readable_.get(); }
  void raise() const;
  void clear() const;

 private:
  Fd readable_;
  Fd written_;  // the other end of a pipe
};

}  // namespace joust

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

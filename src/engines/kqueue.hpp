// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "engines/engine.hpp"

#ifdef JOUST_HAVE_KQUEUE
#include <sys/event.h>

#include <array>
#include <cstddef>
#include <span>

#include "base/fd.hpp"
#include "joust/time.hpp"
#endif

namespace joust {

// Returns why no kqueue can be made here; empty if one can.
std::string kqueue_unavailable();

#ifdef JOUST_HAVE_KQUEUE

// A kqueue and the events of one turn, with the calls in kqueue.cpp; kqueue-pool uses it too. change() and
// make() may be called by any thread.
class KqueueSet {
 public:
  using Event = struct kevent;  // the system call has the same name

  KqueueSet();

  static Event change(int fd, int filter, unsigned flags, void* tag);
  // Makes the changes at once; throws std::system_error. Changes after one that is refused are not made.
  void make(std::span<const Event> changes);
  // Ends a watch at once, because the descriptor is about to be closed. A descriptor that is not watched is
  // no error.
  void forget(int fd, int filter);

  // Ends the watches of a socket before close(). The kernel ends them by itself, but libkqueue does not learn
  // of the close().
  void before_close(int socket);

  // Makes the changes, and waits. Returns the result of the call. A refused change comes back as an event.
  int wait(std::span<const Event> changes, Duration most);
  std::span<const Event> first(std::size_t count) const { return {events_.data(), count}; }

  // Return the events of poll(2), and the error of the socket or 0, that an event reports.
  static unsigned events_of(const Event& event);
  static int error_of(const Event& event);

 private:
  Fd queue_;
  std::array<Event, 512> events_{};
};

#endif

}  // namespace joust

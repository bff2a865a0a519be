// SPDX-License-Identifier: MIT
#pragma once

#include <sys/event.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "engines/engine.hpp"
#include "engines/loop/poller.hpp"
#include "joust/time.hpp"

namespace joust {

// Returns why no kqueue can be made here; empty if one can.
std::string kqueue_unavailable();

// The poller of kqueue; kqueue.cpp has its calls. kqueue-pool waits with it too.
class Kqueue {
 public:
  explicit Kqueue(const Hosting& hosting);

  Reports reports() const { return {.changes = true}; }
  void watch(int fd, Watched& what, unsigned events);
  void forget(int fd, Watched& what);
  template <typename Loop>
  void wait(Loop& loop, Duration most) {
    const std::size_t ready = loop.woken(call(most), "kevent()");
    const auto at = [&](std::size_t i) {
      return i < ready ? static_cast<Watched*>(events_[i].udata) : nullptr;
    };
    for (std::size_t i = 0; i < ready; ++i) {
      loop.fetch_ahead(at(i + 1), at(i + 2));
      if (Watched* const what = taken(events_[i]))
        loop.ready(*what, reported(events_[i]), error_of(events_[i]));
    }
  }

 private:
  using Event = struct kevent;  // the system call has the same name

  void change(int fd, int filter, unsigned flags, Watched* what);
  void watch_once(int fd, Watched& what, unsigned events);
  int call(Duration most);
  static Watched* taken(const Event& event);
  static unsigned reported(const Event& event);
  static int error_of(const Event& event);

  Fd queue_;
  std::vector<Event> changes_;  // for the next wait
  std::array<Event, 512> events_{};
};

}  // namespace joust

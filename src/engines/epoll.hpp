// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>
#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>

#include "base/fd.hpp"
#include "engines/engine.hpp"
#include "engines/loop/poller.hpp"
#include "joust/time.hpp"

namespace joust {

// epoll and poll use the same event bits.
static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLRDHUP == POLLRDHUP && EPOLLHUP == POLLHUP &&
              EPOLLERR == POLLERR);

// The poller of epoll; epoll.cpp has its calls. epoll-pool and coroutines wait with it too.
class Epoll {
 public:
  Epoll() = default;
  explicit Epoll(const Hosting& hosting);

  Reports reports() const { return {.changes = edge_}; }
  void watch(int fd, Watched& what, unsigned events);
  void forget(int fd, Watched& what);
  template <typename Loop>
  void wait(Loop& loop, Duration most) {
    const std::size_t ready = loop.woken(call(most), "epoll_pwait2()");
    const auto at = [&](std::size_t i) {
      return i < ready ? static_cast<Watched*>(events_[i].data.ptr) : nullptr;
    };
    for (std::size_t i = 0; i < ready; ++i) {
      if constexpr (requires { loop.fetch_ahead(at(i + 1), at(i + 2)); })  // sockets of many peers have none
        loop.fetch_ahead(at(i + 1), at(i + 2));
      loop.ready(*at(i), events_[i].events);
    }
  }

  // Lets a wait poll the network cards of its sockets for so long before it sleeps (EPIOCSPARAMS, Linux 6.9).
  // Returns 0 or the errno.
  int poll_cards(std::chrono::microseconds most);

 private:
  int call(Duration most);

  static Fd create();

  Fd epoll_{create()};
  bool edge_ = true;
  bool has_pwait2_ = true;  // Linux 5.11; a seccomp filter may refuse it
  Tally* tally_ = nullptr;
  std::array<epoll_event, 512> events_{};
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <cstddef>
#include <vector>

#include "engines/loop/poller.hpp"
#include "engines/loop/socket_set.hpp"
#include "engines/loop/wait_strategy.hpp"

namespace joust {

// The poller of select; select-blocking waits with it too. Its sets are kept, and copied for each wait,
// because select overwrites them.
class Select {
 public:
  explicit Select(const Hosting& /*hosting*/) {}

  Reports reports() const { return {.resets = false}; }
  void watch(int fd, Watched& what, unsigned events) {
    reach(fd);
    whats_[static_cast<std::size_t>(fd)] = &what;
    reading_.set(fd, (events & (POLLIN | kReset)) != 0);
    writing_.set(fd, (events & POLLOUT) != 0);
    what.armed = events;
  }
  void forget(int fd, Watched& /*what*/) {
    reading_.set(fd, false);
    writing_.set(fd, false);
  }
  // All that is ready is gathered first: what a door lets in is not covered by this result.
  template <typename Loop>
  void wait(Loop& loop, Duration most) {
    readable_ = reading_;
    writable_ = writing_;
    timeval timeout = to_timeval(most);
    const int count = static_cast<int>(whats_.size());
    ready_.clear();
    if (loop.woken(::select(count, readable_.raw(), writable_.raw(), nullptr, &timeout), "select()") == 0)
      return;
    visit_members(readable_, writable_, [&](int fd) {
      const unsigned events =
          (readable_.contains(fd) ? POLLIN : 0U) | (writable_.contains(fd) ? POLLOUT : 0U);
      ready_.push_back({whats_[static_cast<std::size_t>(fd)], events});
    });
    const auto at = [&](std::size_t i) { return i < ready_.size() ? ready_[i].what : nullptr; };
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      loop.fetch_ahead(at(i + 1), at(i + 2));
      loop.ready(*ready_[i].what, ready_[i].events);
    }
  }

 private:
  struct Ready {
    Watched* what;
    unsigned events;
  };

  // Makes room for a descriptor. Later copies of the sets then do not allocate.
  void reach(int fd) {
    const std::size_t count = static_cast<std::size_t>(fd) + 1;
    if (count <= whats_.size()) return;
    for (SocketSet* set : {&reading_, &writing_, &readable_, &writable_}) set->reach(fd);
    ready_.reserve(count);
    whats_.resize(count);
  }

  SocketSet reading_, writing_;    // what to ask for: input, room
  SocketSet readable_, writable_;  // the question to select(), and its answer
  std::vector<Watched*> whats_;    // by descriptor
  std::vector<Ready> ready_;
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <cstddef>
#include <vector>

#include "base/system/events.hpp"
#include "engines/engine.hpp"
#include "engines/loop/poller.hpp"
#include "engines/loop/waiting.hpp"

namespace joust {

// The poller of poll. The hosts of threads wait with it too.
class Poll {
 public:
  explicit Poll(const Hosting& /*hosting*/) {}

  Reports reports() const { return {}; }
  void watch(int fd, Watched& what, unsigned events);
  void forget(int fd, Watched& what);

  // The doors have the first entries, and come last: what they let in is not covered by this result.
  template <typename Loop>
  void wait(Loop& loop, Duration most) {
    const timespec timeout = to_timespec(most);
    std::size_t left = loop.woken(::ppoll(entries_.data(), entries_.size(), &timeout, nullptr), "ppoll()");
    const auto at = [&](std::size_t i) {
      return i < entries_.size() && entries_[i].revents != 0 ? whats_[i] : nullptr;
    };
    for (std::size_t i = entries_.size(); i-- > 0 && left > 0;) {
      const auto events = static_cast<unsigned short>(entries_[i].revents);
      if (events == 0) continue;
      --left;
      loop.fetch_ahead(at(i - 1), at(i - 2));
      loop.ready(*whats_[i], events);
    }
  }

 private:
  std::vector<pollfd> entries_;
  std::vector<Watched*> whats_;  // of the entries
};

}  // namespace joust

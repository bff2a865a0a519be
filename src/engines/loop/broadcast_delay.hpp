// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "joust/time.hpp"

namespace joust {

// Determines how long to delay a broadcast of publications to N sessions. A delay of at most the broadcast's
// own sending time at most doubles the latency of the last session, and combines several broadcasts into one.
class BroadcastDelay {
 public:
  // Returns true while waiting pays. `count` is the current publication count.
  bool postpones(Time now, std::uint64_t count, std::size_t sessions) {
    if (!std::exchange(is_postponing_, true)) began_ = last_change_ = now;
    if (std::exchange(count_, count) != count) last_change_ = now;
    const Duration sending = kOneSend * static_cast<std::int64_t>(sessions);
    is_postponing_ = now < began_ + sending && now < last_change_ + sending / kQuiet;
    return is_postponing_;
  }
  bool is_postponing() const { return is_postponing_; }

 private:
  static constexpr Duration kOneSend = std::chrono::microseconds(1);  // about the cost of a send
  static constexpr int kQuiet = 16;  // 1/16 of the sending time without a publication ends the wait

  bool is_postponing_ = false;
  std::uint64_t count_ = 0;
  Time began_{}, last_change_{};  // the first and the last change of the count
};

}  // namespace joust

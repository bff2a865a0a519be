// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "joust/time.hpp"

namespace joust {

// Determines how long to delay a broadcast of publications to N sessions. A delay of at most the broadcast's
// own sending time at most doubles the latency of the last session, and combines several broadcasts into one.
class Gathering {
 public:
  // Returns true while waiting pays. `count` is the current publication count.
  bool keep_on(Time now, std::uint64_t count, std::size_t sessions) {
    if (!std::exchange(under_way_, true)) began_ = heard_ = now;
    if (std::exchange(count_, count) != count) heard_ = now;
    const Duration telling = kTellOne * static_cast<std::int64_t>(sessions);
    under_way_ = now < began_ + telling && now < heard_ + telling / kQuiet;
    return under_way_;
  }
  bool under_way() const { return under_way_; }

 private:
  static constexpr Duration kTellOne = std::chrono::microseconds(1);  // about the cost of a send
  static constexpr int kQuiet = 16;  // 1/16 of the sending time without a publication ends the wait

  bool under_way_ = false;
  std::uint64_t count_ = 0;
  Time began_{}, heard_{};  // the first and the last change of the count
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "joust/time.hpp"

namespace joust {

// How long to put off telling N sessions what was published. Waiting as long as the telling takes at most
// doubles the time until the last one knows, and saves all the tellings that it makes one of.
class Gathering {
 public:
  // True while it pays to wait. `count`: of the publications, now.
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
  static constexpr int kQuiet = 16;  // nothing for this part of it, and nothing more will come

  bool under_way_ = false;
  std::uint64_t count_ = 0;
  Time began_{}, heard_{};  // when the count moved first, and last
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bytes.hpp"
#include "joust/time.hpp"

namespace joust {

// The pauses between consecutive failed attempts. The longest possible pause doubles from `least` to `most`.
// The pause itself is drawn from the upper half, so that connections ended by one failure do not all come
// back at the same instants. It has no clock: the owner adds the pause to its time.
class Backoff {
 public:
  // Both pauses are not negative, and `least` is not above `most`. The same seed gives the same pauses.
  Backoff(Duration least, Duration most, std::uint64_t seed)
      : least_(least), most_(most), longest_(least), random_(mixed(seed)) {}

  Duration next() {
    const Duration half = longest_ / 2;
    const Duration pause = longest_ - half + Duration(drawn_below(half));
    longest_ = longest_ > most_ / 2 ? most_ : 2 * longest_;
    return pause;
  }

  void restart() { longest_ = least_; }  // an attempt has succeeded

 private:
  Duration::rep drawn_below(Duration end) {
    random_ += kMixStep;
    const auto choices = static_cast<std::uint64_t>(end.count()) + 1;
    return static_cast<Duration::rep>(mixed(random_) % choices);
  }

  Duration least_, most_;
  Duration longest_;      // longest possible next pause
  std::uint64_t random_;  // state of the generator
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace joust::broadcast {

// Which numbers of a sequence have come, where some may be missing, come again or come late: a window of the
// newest 64, as for replayed packets (RFC 4303, 3.4.3). A number from before the window counts as one that
// has come.
class SequenceWindow {
 public:
  enum class Order : std::uint8_t { in_order, out_of_order, repeated };

  Order arrived(std::uint64_t number) {
    if (number >= next_) {
      const std::uint64_t step = number - next_ + 1;
      seen_ = (step < kBits ? seen_ << step : 0) | 1;
      next_ = number + 1;
      return Order::in_order;
    }
    const std::uint64_t back = next_ - 1 - number;
    const std::uint64_t bit = back < kBits ? std::uint64_t{1} << back : 0;
    if (bit == 0 || (seen_ & bit) != 0) return Order::repeated;
    seen_ |= bit;
    return Order::out_of_order;
  }

 private:
  static constexpr std::uint64_t kBits = 64;

  std::uint64_t next_ = 0;  // after the greatest number that has come
  std::uint64_t seen_ = 0;  // bit i: the number next_ - 1 - i has come
};

}  // namespace joust::broadcast

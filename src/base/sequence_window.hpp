// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>

namespace joust {

// Which numbers of a sequence 0, 1, 2 ... have come, where some may be missing, come again or come late: a
// window of the newest kBits, as for replayed packets (RFC 4303, 3.4.3). A number from before the window
// counts as one that has come. One thread.
template <std::size_t kBits>
class SequenceWindow {
 public:
  enum class Order : std::uint8_t { in_order, out_of_order, repeated };
  Order look_at(std::uint64_t number) const {
    if (number >= next_) return Order::in_order;
    return next_ - number > kBits || seen_[number % kBits] ? Order::repeated : Order::out_of_order;
  }
  // A number that is not repeated.
  void add(std::uint64_t number) {
    if (number >= next_) {
      const std::uint64_t gap = std::min<std::uint64_t>(number - next_, kBits);
      for (std::uint64_t i = 0; i < gap; ++i) seen_.reset((number - 1 - i) % kBits);
      next_ = number + 1;
    }
    seen_.set(number % kBits);
  }
  // Both.
  Order arrived(std::uint64_t number) {
    const Order order = look_at(number);
    if (order != Order::repeated) add(number);
    return order;
  }

  std::uint64_t next() const { return next_; }  // the greatest number that has come, and one

 private:
  std::uint64_t next_ = 0;
  std::bitset<kBits> seen_;  // of the newest kBits numbers, by number % kBits
};

}  // namespace joust

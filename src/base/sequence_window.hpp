// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>

namespace joust {

// Records which numbers of a sequence 0, 1, 2 ... have arrived. Numbers may be missing, repeated or late. It
// is a window of the newest kBits numbers, as for replayed packets (RFC 4303, 3.4.3). A number from before
// the window counts as repeated. One thread.
template <std::size_t kBits>
class SequenceWindow {
 public:
  enum class Order : std::uint8_t { in_order, out_of_order, repeated };
  Order look_at(std::uint64_t number) const {
    if (number >= next_) return Order::in_order;
    return next_ - number > kBits || seen_[number % kBits] ? Order::repeated : Order::out_of_order;
  }
  // Adds a number that is not repeated.
  void add(std::uint64_t number) {
    if (number >= next_) {
      const std::uint64_t gap = std::min<std::uint64_t>(number - next_, kBits);
      for (std::uint64_t i = 0; i < gap; ++i) seen_.reset((number - 1 - i) % kBits);
      next_ = number + 1;
    }
    seen_.set(number % kBits);
  }
  // Calls look_at() and, unless the number is repeated, add().
  Order arrived(std::uint64_t number) {
    const Order order = look_at(number);
    if (order != Order::repeated) add(number);
    return order;
  }

  std::uint64_t next() const { return next_; }  // the greatest number that has arrived, plus one

 private:
  std::uint64_t next_ = 0;
  std::bitset<kBits> seen_;  // the newest kBits numbers, by number % kBits
};

}  // namespace joust

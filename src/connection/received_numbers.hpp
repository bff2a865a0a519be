// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/sequence_window.hpp"

namespace joust {

// Records which of a peer's datagrams have been received, by their numbers 0, 1, 2 ...: missing, duplicate
// and late ones. Exact for numbers within kWindow of the highest one; an older number counts as a duplicate.
// One thread.
class ReceivedNumbers {
 public:
  static constexpr std::uint64_t kWindow = 1024;
  // The longest plausible gap. A connection does not survive a greater loss, so a greater number is an error
  // or an attack.
  static constexpr std::uint64_t kLongestGap = 1 << 24;

  enum class Arrival : std::uint8_t { next, late, duplicate, absurd };
  Arrival look_at(std::uint64_t number) const {
    if (number > window_.next() && number - window_.next() > kLongestGap) return Arrival::absurd;
    switch (window_.look_at(number)) {
      case Window::Order::in_order:
        return Arrival::next;
      case Window::Order::out_of_order:
        return Arrival::late;
      case Window::Order::repeated:
        break;
    }
    return Arrival::duplicate;
  }

  // Adds a number that is `next` or `late`.
  void add(std::uint64_t number) {
    window_.add(number);
    ++received_;
  }

  // Takes the peer's final count. A count that no loss explains is ignored.
  void announce(std::uint64_t all) {
    if (all > window_.next() && all - window_.next() <= kLongestGap) announced_ = std::max(announced_, all);
  }

  std::uint64_t received() const { return received_; }
  std::uint64_t expected() const { return std::max(window_.next(), announced_); }
  std::uint64_t missing() const { return expected() - received_; }

 private:
  using Window = SequenceWindow<kWindow>;

  Window window_;
  std::uint64_t received_ = 0;
  std::uint64_t announced_ = 0;
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>

namespace joust {

// Which of a peer's datagrams have been received, by their numbers 0, 1, 2 ... : what is missing, what comes
// twice, and what comes late. Exact for numbers within kWindow of the highest one; an older one is taken for
// a duplicate. One thread.
class ReceivedNumbers {
 public:
  static constexpr std::uint64_t kWindow = 1024;
  // A jump by more is no loss that a connection survives, but a mistake or a lie.
  static constexpr std::uint64_t kLongestGap = 1 << 24;

  enum class Arrival : std::uint8_t { next, late, duplicate, absurd };
  Arrival look_at(std::uint64_t number) const {
    if (number >= next_) return number - next_ > kLongestGap ? Arrival::absurd : Arrival::next;
    if (next_ - number > kWindow) return Arrival::duplicate;
    return seen_[number % kWindow] ? Arrival::duplicate : Arrival::late;
  }

  // A number that is `next` or `late`.
  void add(std::uint64_t number) {
    if (number >= next_) {
      const std::uint64_t gap = std::min(number - next_, kWindow);
      for (std::uint64_t i = 0; i < gap; ++i) seen_.reset((number - 1 - i) % kWindow);
      next_ = number + 1;
    }
    seen_.set(number % kWindow);
    ++received_;
  }

  // The peer says how many there were in all. A larger number than any loss explains is not believed.
  void announce(std::uint64_t all) {
    if (all > next_ && all - next_ <= kLongestGap) announced_ = std::max(announced_, all);
  }

  std::uint64_t received() const { return received_; }
  std::uint64_t expected() const { return std::max(next_, announced_); }
  std::uint64_t missing() const { return expected() - received_; }

 private:
  std::uint64_t next_ = 0;  // the highest number and one
  std::uint64_t received_ = 0;
  std::uint64_t announced_ = 0;
  std::bitset<kWindow> seen_;  // of the last kWindow numbers, by number % kWindow
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "joust/bytes.hpp"

namespace joust {

// Bytes on their way from one process to another, in memory that both share: one writes, one takes. Neither
// waits here. A side that finds nothing to do says that it is about to sleep, looks once more, and sleeps;
// the other side learns from put() or take() that it has to wake it. All numbers are sequentially consistent,
// because each side writes one of them and then reads the other's.
class Ring {
 public:
  static constexpr std::size_t kBytes = 256 << 10;
  static constexpr int kOpen = -1;

  // The writing side: where the next bytes go, in one piece; empty if the ring is full.
  std::span<std::byte> room() {
    const std::uint64_t free = kBytes - (written_ - taken_);
    const std::size_t at = written_ % kBytes;
    return std::span(bytes_).subspan(at, std::min<std::uint64_t>(free, kBytes - at));
  }
  // True if the taking side sleeps: wake it. So for end().
  bool put(std::size_t n) {
    written_ += n;
    return taker_sleeps_ && taker_sleeps_.exchange(false);
  }
  bool end(int error) {  // 0: the stream has ended; or an errno
    end_ = error;
    return taker_sleeps_ && taker_sleeps_.exchange(false);
  }
  // False if there is room after all.
  bool writer_may_sleep() {
    writer_sleeps_ = true;
    return room().empty();
  }

  // The taking side: the oldest bytes, in one piece.
  Bytes content() const {
    const std::size_t at = taken_ % kBytes;
    return std::span(bytes_).subspan(at, std::min<std::uint64_t>(written_ - taken_, kBytes - at));
  }
  // kOpen, or how the stream ended; the content before it comes first.
  int ending() const { return end_; }
  bool has_news() const { return end_ != kOpen || written_ != taken_; }
  // True if the writing side sleeps: wake it.
  bool take(std::size_t n) {
    taken_ += n;
    return writer_sleeps_ && writer_sleeps_.exchange(false);
  }
  // False if there is news after all.
  bool taker_may_sleep() {
    taker_sleeps_ = true;
    return !has_news();
  }

 private:
  // On lines of their own: each side writes its own number for every message.
  alignas(128) std::atomic<std::uint64_t> written_{0};  // bytes since the beginning
  std::atomic<int> end_{kOpen};
  std::atomic<bool> writer_sleeps_{false};
  alignas(128) std::atomic<std::uint64_t> taken_{0};
  std::atomic<bool> taker_sleeps_{false};
  alignas(128) std::array<std::byte, kBytes> bytes_;
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "joust/time.hpp"

namespace joust::transfer {

// The bytes per second of all connections together. Any thread.
class RateLimit {
 public:
  explicit RateLimit(std::uint64_t bytes_per_s) : bytes_per_s_(bytes_per_s) {}

  bool applies() const { return bytes_per_s_ > 0; }
  // As much as may go at a time: a twentieth of a second's.
  std::uint64_t portion(std::uint64_t most = 1 << 20) const {
    return std::clamp<std::uint64_t>(bytes_per_s_ / 20, 1, most);
  }

  // When so many bytes may go; they count from now on.
  Time reserve(std::uint64_t bytes, Time now) {
    const std::lock_guard lock(mutex_);
    const Time at = std::max(next_, now);
    next_ = at + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(
                     static_cast<double>(bytes) / static_cast<double>(bytes_per_s_)));
    return at;
  }

 private:
  const std::uint64_t bytes_per_s_;
  std::mutex mutex_;
  Time next_{};
};

}  // namespace joust::transfer

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
  // The bytes that may be sent at a time: those of a twentieth of a second, but at most `most`.
  std::uint64_t portion(std::uint64_t most = 1 << 20) const {
    return std::clamp<std::uint64_t>(bytes_per_s_ / 20, 1, most);
  }

  // Returns when so many bytes may be sent; they count from now on.
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

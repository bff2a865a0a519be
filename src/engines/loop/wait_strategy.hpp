// SPDX-License-Identifier: MIT
#pragma once

#include <sys/time.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "engines/engine.hpp"
#include "joust/time.hpp"

namespace joust {

// Determines the longest next wait that the `wait` option allows. On a virtual machine, waking a sleeping
// core costs several times as much as a message, so spinning replies faster, at the cost of a busy core.
class WaitStrategy {
 public:
  // `paced`: a deadline is met within microseconds.
  explicit WaitStrategy(Wait wait, bool paced = false) : wait_(wait), paced_(paced) {}

  void found_work(Time now) { last_work_ = now; }

  // Returns zero (check and return at once), the time until `due`, or kForever.
  Duration next_wait(std::optional<Time> due, Time now) const {
    if (wait_ == Wait::spin || (wait_ == Wait::adaptive && now - last_work_ < kSpin)) return Duration::zero();
    if (!due) return kForever;
    return std::max(Duration::zero(), Duration(*due - now) - (paced_ ? kSpin : Duration::zero()));
  }

  static constexpr Duration kForever = std::chrono::hours(1);
  // About the time in which a core falls asleep and wakes up again; longer waits should sleep.
  static constexpr Duration kSpin = std::chrono::microseconds(50);

 private:
  Wait wait_;
  bool paced_;
  Time last_work_{};
};

inline timespec to_timespec(Duration time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
}

// Rounds up, so that the loop wakes up late, never early.
inline timeval to_timeval(Duration time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const auto rest = std::chrono::ceil<std::chrono::microseconds>(time - seconds);
  return {.tv_sec = seconds.count() + rest / std::chrono::seconds(1),
          .tv_usec = static_cast<suseconds_t>((rest % std::chrono::seconds(1)).count())};
}

}  // namespace joust

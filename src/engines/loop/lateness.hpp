// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include "joust/time.hpp"

namespace joust {

// After a pause of the whole process, or a long time without a CPU, input that has arrived meanwhile is read
// before deadlines are judged. Otherwise a peer that replied in time would be given up. One thread at a time.
class Lateness {
 public:
  // A deadline that is overdue by more than this shows such a pause. Nearly all turns of a busy loop are
  // shorter.
  static constexpr Duration kPause = std::chrono::milliseconds(100);

  // Returns true if a deadline that was due at `due` must wait. `found`: the turn has found input.
  bool puts_off(Time due, bool found, Time now) {
    if (now - due <= kPause) {
      since_.reset();
      return false;
    }
    if (!since_) since_ = now;
    const Duration spent = now - *since_;
    const bool more = spent < kLeast || (found && spent < kMost);
    if (!more) since_.reset();
    return more;
  }
  // Returns true from the first deadline that waits until one does not.
  bool is_putting_off() const { return since_.has_value(); }
  // Returns the time until which a thread with this deadline may sleep, unless input wakes it.
  Time sleeps_until(Time due) const { return since_ ? std::max(due, *since_ + kLeast) : due; }

 private:
  // The least delay, because another thread of the kernel (SQPOLL) may have to read first.
  static constexpr Duration kLeast = std::chrono::milliseconds(10);
  // The longest delay, because peers that send without end are not waited for.
  static constexpr Duration kMost = std::chrono::seconds(2);

  std::optional<Time> since_;  // the first turn after the pause
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <sys/time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <utility>

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

// Determines how long to delay a broadcast of publications to N sessions. A delay of at most the broadcast's
// own sending time at most doubles the latency of the last session, and combines several broadcasts into one.
class BroadcastDelay {
 public:
  // Returns true while waiting pays. `count` is the current publication count.
  bool postpones(Time now, std::uint64_t count, std::size_t sessions) {
    if (!std::exchange(is_postponing_, true)) began_ = last_change_ = now;
    if (std::exchange(count_, count) != count) last_change_ = now;
    const Duration sending = kOneSend * static_cast<std::int64_t>(sessions);
    is_postponing_ = now < began_ + sending && now < last_change_ + sending / kQuiet;
    return is_postponing_;
  }
  bool is_postponing() const { return is_postponing_; }

 private:
  static constexpr Duration kOneSend = std::chrono::microseconds(1);  // about the cost of a send
  static constexpr int kQuiet = 16;  // 1/16 of the sending time without a publication ends the wait

  bool is_postponing_ = false;
  std::uint64_t count_ = 0;
  Time began_{}, last_change_{};  // the first and the last change of the count
};

// The chore of a server whose only thread is that of its loop. It is done while there is work, and some times
// after: the last work may have been the end of connections. An idle loop sleeps.
class Chore {
 public:
  explicit Chore(const Hosting& hosting) : call_(hosting.chore) {}

  void on_work() {
    if (call_) left_ = kAfterWork;
  }
  // A turn may serve thousands of peers, so it looks at the clock itself now and then.
  void on_peer() {
    if (left_ > 0 && ++peers_ == kPeers) do_if_due(Clock::now());
  }
  void do_if_due(Time now) {
    peers_ = 0;
    if (left_ == 0 || now < at_) return;
    at_ = now + Hosting::kChoreEvery;
    left_ = call_() ? kAfterWork : left_ - 1;
  }
  Time due() const { return left_ > 0 ? at_ : Time::max(); }

 private:
  static constexpr unsigned kAfterWork = 8, kPeers = 256;

  const std::function<bool()>& call_;  // may be empty
  Time at_{};
  unsigned left_ = 0;   // times that it is done without further work
  unsigned peers_ = 0;  // served since the last look at the clock
};

}  // namespace joust

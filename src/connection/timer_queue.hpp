// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "joust/time.hpp"

namespace joust {

// An object with one deadline in a TimerQueue, such as a loop's connection.
struct Timed {
  static constexpr std::size_t kUnqueued = static_cast<std::size_t>(-1);
  std::size_t place = kUnqueued;  // for the queue: the position in the heap
  Time due{};                     // for the queue: when the entry fires
};

// The deadlines of one loop's connections: a 4-ary heap in which each entry knows its position. Deadlines
// move with every message, nearly always to later, so arming for later does nothing: the entry fires early,
// and is armed again.
class TimerQueue {
 public:
  // Makes `entry` fire at `due` or earlier.
  void arm(Timed& entry, Time due);
  void remove(Timed& entry);

  // Makes arm() free of allocations for up to this number of entries.
  void make_room(std::size_t entries) {
    if (heap_.capacity() < entries) heap_.reserve(2 * entries);
  }

  // Takes the first entry due by `now`, or null. Its owner checks the real deadline and arms it again.
  Timed* pop_due(Time now);

  std::optional<Time> next() const;

 private:
  void place_at(std::size_t place, Timed* entry);
  void sift_up(std::size_t place, Timed* entry);
  void sift_down(std::size_t place, Timed* entry);

  std::vector<Timed*> heap_;
};

// The pauses between consecutive failed attempts. The longest possible pause doubles from `least` to `most`.
// The pause itself is drawn from the upper half, so that connections ended by one failure do not all come
// back at the same instants. It has no clock: the owner adds the pause to its time.
class Backoff {
 public:
  // Both pauses are not negative, and `least` is not above `most`. The same seed gives the same pauses.
  Backoff(Duration least, Duration most, std::uint64_t seed)
      : least_(least), most_(most), longest_(least), random_(mixed(seed)) {}

  Duration next() {
    const Duration half = longest_ / 2;
    const Duration pause = longest_ - half + Duration(drawn_below(half));
    longest_ = longest_ > most_ / 2 ? most_ : 2 * longest_;
    return pause;
  }

  void restart() { longest_ = least_; }  // an attempt has succeeded

 private:
  Duration::rep drawn_below(Duration end) {
    random_ += kMixStep;
    const auto choices = static_cast<std::uint64_t>(end.count()) + 1;
    return static_cast<Duration::rep>(mixed(random_) % choices);
  }

  Duration least_, most_;
  Duration longest_;      // longest possible next pause
  std::uint64_t random_;  // state of the generator
};

}  // namespace joust

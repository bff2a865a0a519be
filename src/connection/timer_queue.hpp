// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

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

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "joust/time.hpp"

namespace joust {

// What has one deadline in a TimerQueue. A loop's connection derives from it.
struct Timed {
  static constexpr std::size_t kUnqueued = static_cast<std::size_t>(-1);
  std::size_t place = kUnqueued;  // the queue's own: where in the heap
  Time due{};                     // the queue's own: when it fires
};

// The deadlines of one loop's connections: a 4-ary heap that knows where each entry stands. Deadlines move
// with every message, nearly always to later, so arming for later is free: the entry fires early once, and is
// armed again.
class TimerQueue {
 public:
  // Has `entry` fire at `due` or earlier.
  void arm(Timed& entry, Time due);
  void remove(Timed& entry);

  // arm() needs no memory then, as long as there are no more entries than that.
  void make_room(std::size_t entries) {
    if (heap_.capacity() < entries) heap_.reserve(2 * entries);
  }

  // Takes the first entry due by `now`, or null. Its owner looks what is really due and arms it again.
  Timed* pop_due(Time now);

  std::optional<Time> next() const;

 private:
  void place_at(std::size_t place, Timed* entry);
  void sift_up(std::size_t place, Timed* entry);
  void sift_down(std::size_t place, Timed* entry);

  std::vector<Timed*> heap_;
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include "joust/time.hpp"

namespace joust {

// Measures the speed of the busy loop, in some tens of milliseconds: the shortest of several trials, because
// a disturbance always lengthens a trial. Two measurements may differ by half where other programs or virtual
// machines share the core.
double busy_loop_rounds_per_us();

// A loop that occupies a CPU for a given time without reading a clock, which would take time of its own.
class BusyLoop {
 public:
  explicit BusyLoop(double rounds_per_us) : rounds_per_us_(rounds_per_us) {}

  // Returns after about that time on a CPU that runs the loop at that speed. Any thread.
  void spend(Duration time) const;

 private:
  double rounds_per_us_;
};

}  // namespace joust

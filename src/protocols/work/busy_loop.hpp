// SPDX-License-Identifier: MIT
#pragma once

#include "joust/time.hpp"

namespace joust {

// A loop that occupies a CPU for a given time without reading a clock, which would take time of its own. Its
// speed is measured once.
class BusyLoop {
 public:
  // Measures the speed of the loop, in some tens of milliseconds: the shortest of several trials, because a
  // disturbance always lengthens a trial.
  BusyLoop();

  // Returns after about that time on a CPU that runs as fast as it did in the shortest trial. Any thread.
  void spend(Duration time) const;

 private:
  double rounds_per_ns_;
};

}  // namespace joust

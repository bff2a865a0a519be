// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include "base/memory.hpp"

namespace joust::conformance {

// Blocks a thread of the engine inside of a session until the test releases it. All input that arrives
// meanwhile is ready at once, so a test can check the order in which the thread handles it. Neither side
// waits longer than kPatience.
class Gate {
 public:
  void hold();        // called by the engine's thread
  void await_held();  // called by the test; throws if no thread is held in time
  void let_go();      // releases one thread: the one held, or the next one

 private:
  struct Counts {
    std::atomic<unsigned> held{0}, let_go{0};
  };
  SharedMemory<Counts> counts_{};
};

}  // namespace joust::conformance

// SPDX-License-Identifier: MIT
#pragma once

#include <semaphore>

namespace joust::conformance {

// Holds a thread of the engine inside of a session until the test lets it go. Whatever happens meanwhile
// comes to that thread at once, so a test can look at the order in which it takes its work. Neither side
// waits longer than kPatience.
class Gate {
 public:
  void hold();        // the engine's thread
  void await_held();  // the test; throws when no thread comes
  void let_go();      // one thread: the one that is held, or the next one

 private:
  std::counting_semaphore<> held_{0};
  std::counting_semaphore<> let_go_{0};
};

}  // namespace joust::conformance

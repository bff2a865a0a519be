// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "engines/engine.hpp"

namespace joust {

// A part of the program that is loaded when one of its engines runs, because its library would make every
// other command start later, and take more memory. It takes all else from the program that loads it.
struct EngineModule {
  const char* engines;    // "the engines on Qt"
  const char* installed;  // its file, beside the program's folder
  const char* built;      // or where it was built

  // Why it cannot be loaded; empty if it can.
  std::string missing() const;
  // Calls its function of that name. Throws std::runtime_error if it cannot be loaded. It is never unloaded:
  // libraries keep what belongs to threads.
  void run(const char* entry, const Hosting& hosting, Stop& stop) const;

 private:
  std::string file() const;
};

}  // namespace joust

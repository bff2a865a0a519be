// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "engines/engine.hpp"

namespace joust {

// A part of the program that is loaded when one of its engines runs, because its library would make every
// other command start later, and take more memory. The module takes all other code from the program that
// loads it.
struct EngineModule {
  const char* engines;    // as text: "the engines on Qt"
  const char* installed;  // its file, relative to the folder above the program's folder
  const char* built;      // its file where it was built

  // Returns why the module cannot be loaded; empty if its file exists.
  std::string missing() const;
  // Calls the module's function `entry`. Throws std::runtime_error if the module cannot be loaded. It is
  // never unloaded, because libraries keep objects that belong to threads.
  void run(const char* entry, const Hosting& hosting, Stop& stop) const;

 private:
  std::string file() const;
};

}  // namespace joust

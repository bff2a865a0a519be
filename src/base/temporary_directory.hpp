// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <string>

namespace joust {

// Returns the directory of temporary files: TMPDIR, or /tmp where that is unset or empty.
inline std::string temporary_directory() {
  const char* const given = std::getenv("TMPDIR");
  return given == nullptr || *given == '\0' ? "/tmp" : given;
}

// Returns the mode that a new file would have, which mkstemp() does not give it. It is the process's, so no
// other thread may make a file meanwhile.
inline mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <string>

namespace joust {

// Returns the directory of temporary files: TMPDIR, or /tmp where that is unset or empty.
inline std::string temporary_directory() {
  const char* const given = std::getenv("TMPDIR");
  return given == nullptr || *given == '\0' ? "/tmp" : given;
}

}  // namespace joust

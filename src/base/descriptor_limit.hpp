// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>

#include "base/check.hpp"

namespace joust {

// Returns how many files this process may have open. Throws std::system_error.
inline rlimit descriptor_limit() {
  rlimit limit{};
  checked(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit(RLIMIT_NOFILE)");
  return limit;
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace joust {

// Returns when an open file was made, in nanoseconds since 1970; 0 where the system or the file system does
// not know.
std::int64_t birth_time_ns(int fd);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include "base/fd.hpp"

namespace joust {

// A file that has no name and is gone with its last descriptor: memfd_create() or, where the system has none
// (macOS), a file of the temporary folder whose name is removed at once. Not open, with errno set, where the
// call fails. `name` is shown by tools that list descriptors.
Fd memory_file(const char* name);

// The same, for contents that seal_memory() will keep from changing.
Fd sealable_memory_file(const char* name);

// From now on the file neither grows, shrinks nor changes, where the system can promise that. Negative, with
// errno set, where that fails.
int seal_memory(const Fd& file);

}  // namespace joust

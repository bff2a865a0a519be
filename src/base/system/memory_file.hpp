// SPDX-License-Identifier: MIT
#pragma once

#include "base/fd.hpp"

namespace joust {

// Opens a file that has no name and ends with its last descriptor: memfd_create() or, where the system has
// none (macOS), a file of the temporary folder whose name is removed at once. Not open, with errno set, where
// the call fails. `name` is shown by tools that list descriptors.
Fd memory_file(const char* name);

// Opens such a file for contents that seal_memory() will protect from changes.
Fd sealable_memory_file(const char* name);

// Seals the file: from now on it neither grows, shrinks nor changes, where the system supports that. Returns
// a negative number, with errno set, if it fails.
int seal_memory(const Fd& file);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

namespace joust {

// A new file in a directory, without a name, so that a process that is killed leaves nothing of it. For
// reading and writing. Fails with EOPNOTSUPP where the system or the file system has no such files, or where
// they could get no name later.
int open_nameless(int directory, mode_t mode);

// Gives such a file a name that is free; fails with EEXIST if it is not. Returns 0, or -1 with the errno.
int name_nameless(int file, int directory, const char* name);

}  // namespace joust

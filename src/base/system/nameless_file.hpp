// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

namespace joust {

// Opens a new file in a directory, without a name, so that a killed process leaves no file behind. For
// reading and writing. Fails with EOPNOTSUPP where the system or the file system has no such files, or where
// they could get no name later.
int open_nameless(int directory, mode_t mode);

// Gives such a file a free name. Fails with EEXIST if the name is taken. Returns 0, or -1 with the errno.
int name_nameless(int file, int directory, const char* name);

}  // namespace joust

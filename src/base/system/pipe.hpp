// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>

#include "base/fd.hpp"

namespace joust {

struct OpenPipe {
  Fd from, into;
};

// Opens a pipe by pipe2(), or on macOS by several calls; `flags` are O_CLOEXEC and O_NONBLOCK. Not open, with
// errno set, where the call fails.
OpenPipe open_pipe(int flags);

}  // namespace joust

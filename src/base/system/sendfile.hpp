// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace joust {

// Calls sendfile(), which has other arguments on each of three systems. Returns how many bytes were sent, 0
// at the end of the file, or -1 with errno set. If bytes were sent before an error, returns their number, as
// on Linux.
ssize_t send_from_file(int socket, int file, off_t offset, std::size_t most);

}  // namespace joust

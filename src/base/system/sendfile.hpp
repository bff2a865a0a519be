// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace joust {

// sendfile(): three systems have a call of this name, with other arguments each. Returns how many bytes were
// sent, 0 at the end of the file, or -1 with errno set: what was sent before an error counts, as on Linux.
ssize_t send_from_file(int socket, int file, off_t offset, std::size_t most);

}  // namespace joust

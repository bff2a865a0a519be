// SPDX-License-Identifier: MIT
#include "base/system/sendfile.hpp"

#ifdef __linux__
#include <sys/sendfile.h>
#else
#include <sys/socket.h>
#include <sys/uio.h>
#endif

namespace joust {

ssize_t send_from_file(int socket, int file, off_t offset, std::size_t most) {
#ifdef __linux__
  return ::sendfile(socket, file, &offset, most);
#elif defined(__APPLE__)
  auto sent = static_cast<off_t>(most);  // in: the most to send; out: the bytes sent, with an error too
  const int result = ::sendfile(file, socket, offset, &sent, nullptr, 0);
  return result == 0 || sent > 0 ? static_cast<ssize_t>(sent) : -1;
#else
  off_t sent = 0;
  const int result = ::sendfile(file, socket, offset, most, nullptr, &sent, 0);
  return result == 0 || sent > 0 ? static_cast<ssize_t>(sent) : -1;
#endif
}

}  // namespace joust

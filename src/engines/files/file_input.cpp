// SPDX-License-Identifier: MIT
#include "engines/files/file_input.hpp"

#include <cerrno>

namespace joust {

std::size_t FileInput::wanted(const StreamConnection& connection) {
  const std::size_t into_ring = ring_.wanted(connection);
  by_ring_ = into_ring > 0;
  return by_ring_ ? into_ring : pipe_.wanted(connection);
}

bool FileInput::receive_ready(int socket, StreamConnection& connection, std::size_t most, bool end_is_near,
                              Time now) {
  const auto filled = fill(socket, most);
  if (!filled) return true;  // from now on wanted() returns 0
  const int error = errno;
  if (*filled > 0)
    empty(connection, now);
  else if (*filled == 0)
    connection.peer_finished(now);
  else if (error == EINTR)
    return true;
  else if (error != EAGAIN && error != EWOULDBLOCK)
    connection.failed({Stage::receive, error, {}}, now);
  if (*filled <= 0) return false;
  // A pipe that is short of room takes less than the socket has.
  return !by_ring_ || end_is_near || static_cast<std::size_t>(*filled) == most;
}

std::optional<ssize_t> FileInput::fill(int socket, std::size_t most) {
  return by_ring_ ? ring_.fill(socket, most) : pipe_.fill(socket, most);
}

void FileInput::empty(StreamConnection& connection, Time now) {
  if (by_ring_)
    ring_.empty(connection, now);
  else
    pipe_.empty(connection, now);
}

}  // namespace joust

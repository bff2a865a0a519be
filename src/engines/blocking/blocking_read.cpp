// SPDX-License-Identifier: MIT
#include "engines/blocking/blocking_read.hpp"

#include <cerrno>

namespace joust {

ReadResult ReadResult::filled(ssize_t n) {
  if (n < 0) return {{}, errno};
  return {{}, 0, static_cast<std::size_t>(n)};
}

void report(const ReadResult& result, StreamConnection& connection, FileInput& input, Time now) {
  if (!result.bytes.empty())
    connection.received(result.bytes, now);
  else if (result.for_file > 0)
    input.empty(connection, now);
  else if (result.error == 0)
    connection.peer_finished(now);
  else if (result.error != EAGAIN && result.error != EINTR)
    connection.failed({Stage::receive, result.error, {}}, now);
}

void LeaveTaking::go_on(const ReadResult& result, StreamConnection& connection, const Limits& limits,
                        Time now) {
  read_ += result.bytes.size() + result.for_file;
  if (result.error != EAGAIN && read_ < limits.read_bytes_per_turn) return;
  taken_ = true;
  connection.drain(now);
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#include "engines/loop/heard.hpp"

#include <cerrno>

namespace joust {

Heard Heard::filled(ssize_t n) {
  if (n < 0) return {{}, errno};
  return {{}, 0, static_cast<std::size_t>(n)};
}

void report(const Heard& heard, StreamConnection& connection, FileInput& input, Time now) {
  if (!heard.bytes.empty())
    connection.received(heard.bytes, now);
  else if (heard.for_file > 0)
    input.empty(connection, now);
  else if (heard.error == 0)
    connection.peer_finished(now);
  else if (heard.error != EAGAIN && heard.error != EINTR)
    connection.failed({Stage::receive, heard.error, {}}, now);
}

void LeaveTaking::go_on(const Heard& heard, StreamConnection& connection, const Limits& limits, Time now) {
  read_ += heard.bytes.size() + heard.for_file;
  if (heard.error != EAGAIN && read_ < limits.read_bytes_per_turn) return;
  taken_ = true;
  connection.drain(now);
}

}  // namespace joust

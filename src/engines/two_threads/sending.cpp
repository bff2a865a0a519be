// SPDX-License-Identifier: MIT
#include "engines/two_threads/sending.hpp"

#include <utility>

#include "engines/files/file_io.hpp"

namespace joust {

bool Sending::prepare(StreamConnection& connection, Time now) {
  source_ = copies_files_ ? std::nullopt : connection.source();
  count_ = source_ ? 0 : connection.output(pieces_, now);
  return source_ || count_ > 0;
}

void Sending::report(StreamConnection& connection, Time now) {
  const ssize_t result = std::exchange(result_, -1);
  const int error = std::exchange(error_, EAGAIN);
  if (source_) {
    const FileRange source = *std::exchange(source_, std::nullopt);
    copies_files_ = !report_sendfile(connection, source, result, error, now);
  } else if (result >= 0) {
    connection.sent(static_cast<std::size_t>(result), now);
  } else if (error != EAGAIN && error != EINTR) {
    connection.send_failed(error, now);
  }
}

}  // namespace joust

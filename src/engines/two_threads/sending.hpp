// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>

#include "connection/stream_connection.hpp"
#include "joust/time.hpp"

namespace joust {

// Output that is sent without the connection's lock. The lock is held while it is prepared, and while it is
// reported. In between, the session may have got more output, or have withdrawn this output.
class Sending {
 public:
  bool prepare(StreamConnection& connection, Time now);  // returns false if no output exists
  void report(StreamConnection& connection, Time now);   // does nothing if nothing has been sent since

  // Used without the lock: a file's range if it comes first and sendfile can send it, otherwise bytes.
  const std::optional<FileRange>& source() const { return source_; }
  std::span<iovec> pieces() { return std::span(pieces_).first(count_); }
  void returned(ssize_t result, int error) {
    result_ = result;
    error_ = error;
  }

 private:
  static constexpr std::size_t kMostPieces = 16;

  std::optional<FileRange> source_;
  std::array<iovec, kMostPieces> pieces_;
  std::size_t count_ = 0;
  ssize_t result_ = -1;
  int error_ = EAGAIN;
  bool copies_files_ = false;  // sendfile cannot send the files
};

}  // namespace joust

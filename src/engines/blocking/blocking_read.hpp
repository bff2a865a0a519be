// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "connection/stream_connection.hpp"
#include "engines/files/file_input.hpp"
#include "joust/limits.hpp"

namespace joust {

// The limits of engines that block in their calls, with a thread or a process for each connection.
inline constexpr std::size_t kMostRead = 64 << 10;                   // bytes of one read, on the stack
inline constexpr Duration kTick = std::chrono::seconds(1);           // the longest sleep in recv
inline constexpr Duration kSendTick = std::chrono::microseconds(1);  // and in sendfile; the kernel rounds up

// The result of one read, for engines in which a thread or process serves one connection with blocking calls.
struct ReadResult {
  Bytes bytes{};
  int error = 0;             // EAGAIN: nothing has arrived; 0 without bytes: the peer's end of stream
  std::size_t for_file = 0;  // bytes that FileInput holds instead

  // Returns the result of FileInput::fill(), with its errno.
  static ReadResult filled(ssize_t n);
  bool has_input() const { return !bytes.empty() || for_file > 0; }
};

// Passes the result to the connection; `input` holds the bytes for a file.
void report(const ReadResult& result, StreamConnection& connection, FileInput& input, Time now);

// The stop of such a connection: input that has arrived is answered, up to a turn's quota. Then the session
// is asked to finish.
class LeaveTaking {
 public:
  bool is_taken() const { return taken_; }
  // Call after each report while the stop is requested and the leave is not taken.
  void go_on(const ReadResult& result, StreamConnection& connection, const Limits& limits, Time now);

 private:
  bool taken_ = false;
  std::size_t read_ = 0;  // bytes since the stop
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>

#include "connection/stream_connection.hpp"
#include "connection/tally.hpp"
#include "engines/files/file_io.hpp"
#include "engines/files/file_ring.hpp"
#include "joust/limits.hpp"
#include "joust/time.hpp"

namespace joust {

// Moves bytes from sockets into files, through a pipe or a ring buffer, as the file demands. Each loop, or
// each connection's thread, has one.
class FileInput {
 public:
  FileInput(Tally& tally, const Limits& limits) : pipe_(tally), ring_(limits) {}
  FileInput(PipePool& pool, const Limits& limits) : pipe_(pool), ring_(limits) {}

  // Returns how many bytes fill() may take for the file that the connection wants filled next; 0: use recv()
  // instead.
  std::size_t wanted(const StreamConnection& connection);

  // Does both steps for a non-blocking socket. `most` is the result of wanted(). The result and `end_is_near`
  // are those of receive_ready() in loop/ready_io.hpp.
  bool receive_ready(int socket, StreamConnection& connection, std::size_t most, bool end_is_near, Time now);

  // The two steps, after wanted(). fill() waits, returns and fails as recv() does. It returns nothing if no
  // pipe is available, or if the kernel cannot fill the file: use recv() then.
  std::optional<ssize_t> fill(int socket, std::size_t most);
  // Moves the bytes of fill() into the file. A failure is reported to the session, which gets the bytes as
  // input.
  void empty(StreamConnection& connection, Time now);

 private:
  FilePipe pipe_;
  FileRing ring_;
  bool by_ring_ = false;
};

}  // namespace joust

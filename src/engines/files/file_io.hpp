// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/fd.hpp"
#include "joust/time.hpp"
#include "connection/stream_connection.hpp"

// Bytes that go between files and sockets inside the kernel. Where it refuses to move them, the plain way of
// StreamConnection is left: no call here makes a transfer fail that could go on.
namespace joust {

// sendfile() of as much of `source`, which is the connection's, as the socket takes without waiting, also
// where it is a blocking one. False when the socket is full; nothing where the kernel cannot send this file.
std::optional<bool> send_file(int socket, StreamConnection& connection, const FileRange& source, Time now);

// The way from a socket into files: splice() knows only pipes at the other end. One for a loop or thread. It
// is empty between two uses, so no peer's bytes can get into another's file. Made when first wanted.
class FilePipe {
 public:
  // How many bytes fill() may take for the file the connection wants filled next; 0: read them as others.
  std::size_t wanted(const StreamConnection& connection);

  // Both steps for a non-blocking socket. False when it is drained.
  bool receive_ready(int socket, StreamConnection& connection, std::size_t most, Time now);

  // splice() from the socket: waits, returns and fails as recv() does. EAGAIN also where this socket cannot
  // be spliced from; wanted() is 0 from then on.
  ssize_t fill(int socket, std::size_t most);

  // What fill() has taken: into the file, or, where that refuses, to the session, which is told of it.
  void empty(StreamConnection& connection, Time now);

 private:
  bool make();
  void store(StreamConnection& connection, const FileRange& range, Time now);
  void hand_on(StreamConnection& connection, Time now);

  Fd from_, into_;  // the pipe's ends
  std::size_t held_ = 0;
  bool refused_ = false;  // the kernel cannot, or there is no descriptor left for a pipe
};

}  // namespace joust

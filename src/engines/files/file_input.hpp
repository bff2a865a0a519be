// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "connection/stream_connection.hpp"
#include "connection/tally.hpp"
#include "engines/files/file_io.hpp"
#include "joust/limits.hpp"
#include "joust/time.hpp"

namespace joust {

// A ring buffer between a socket and files: readv() fills its free part, and one write empties the other.
// Either part is one piece, or two where it passes the end of the memory and goes on at the beginning:
//
//     |....bytes......|      |es......|..byt|
//          begin_                      begin_
//
// The ring does not begin anew when it is empty, so each call uses all of its free part. Regular files take
// bytes at once: the ring holds some only from fill() to the end of empty(), and one ring serves all the
// connections of a thread. Its memory is taken with the first bytes.
class FileRing {
 public:
  explicit FileRing(const Limits& limits) : size_(limits.file_ring_bytes) {}
  FileRing(const FileRing&) = delete;
  FileRing& operator=(const FileRing&) = delete;

  // Returns how many bytes fill() may take for the file that the connection wants filled next; 0: use recv()
  // instead.
  std::size_t wanted(const StreamConnection& connection) const;

  // Calls readv() from the socket: waits, returns and fails as recv() does. `most` is at most wanted().
  ssize_t fill(int socket, std::size_t most);

  // Writes the bytes of fill() into the file. A failure is reported to the session, which gets the bytes as
  // input.
  void empty(StreamConnection& connection, Time now);

 private:
  using Pieces = std::array<std::span<std::byte>, 2>;
  Pieces pieces(std::size_t begin, std::size_t size);
  void store(StreamConnection& connection, const FileRange& range, Time now);
  void store_piece(StreamConnection& connection, Bytes piece, Time now);
  void hand_on(StreamConnection& connection, Time now);
  void drop(std::size_t n);

  const std::size_t size_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t begin_ = 0;  // the position of the bytes held
  std::size_t held_ = 0;   // the number of bytes held
};

// Moves bytes from sockets into files, through a pipe or a ring buffer, as the file demands. Each loop, or
// each connection's thread, has one.
class FileInput {
 public:
  FileInput(Tally& tally, const Limits& limits) : pipe_(tally), ring_(limits) {}
  FileInput(PipePool& pool, const Limits& limits) : pipe_(pool), ring_(limits) {}

  // Returns how many bytes fill() may take for the file that the connection wants filled next; 0: use recv()
  // instead.
  std::size_t wanted(const StreamConnection& connection) {
    return connection.has_files() ? wanted_by_files(connection) : 0;
  }

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
  std::size_t wanted_by_files(const StreamConnection& connection);

  FilePipe pipe_;
  FileRing ring_;
  bool by_ring_ = false;
};

}  // namespace joust

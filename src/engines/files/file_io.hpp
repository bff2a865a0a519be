// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "connection/stream_connection.hpp"
#include "connection/tally.hpp"
#include "engines/files/pipe_pool.hpp"
#include "joust/time.hpp"

// Bytes that go between files and sockets inside the kernel. Where it refuses to move them, the plain way of
// StreamConnection is left: no call here makes a transfer fail that could go on.
namespace joust {

// One sendfile() of `source`, which is the connection's. It waits as the socket says: not at all where that
// does not block, otherwise until its send timeout. False when the socket is full; nothing where the kernel
// cannot send this file. The calling thread needs a SigpipeBlock.
std::optional<bool> send_file(int socket, StreamConnection& connection, const FileRange& source, Time now);

// The same for a socket that blocks, without waiting. Costs two more system calls.
std::optional<bool> send_file_at_once(int socket, StreamConnection& connection, const FileRange& source,
                                      Time now);

// The way from a socket into files: splice() knows only pipes at the other end. One for a loop, or for the
// thread of a connection. It has a pipe only from fill() to the end of empty().
class FilePipe {
 public:
  explicit FilePipe(Tally& tally) : own_(std::in_place, tally), pool_(*own_) {}
  explicit FilePipe(PipePool& pool) : pool_(pool) {}
  ~FilePipe();
  FilePipe(const FilePipe&) = delete;
  FilePipe& operator=(const FilePipe&) = delete;

  // How many bytes fill() may take for the file the connection wants filled next; 0: read them as others.
  std::size_t wanted(const StreamConnection& connection) const;

  // Both steps for a non-blocking socket. False when it is drained.
  bool receive_ready(int socket, StreamConnection& connection, std::size_t most, Time now);

  // splice() from the socket: waits, returns and fails as recv() does. Nothing where there is no pipe, or the
  // kernel cannot: then read as others.
  std::optional<ssize_t> fill(int socket, std::size_t most);

  // What fill() has taken: into the file, or, where that refuses, to the session, which is told of it.
  void empty(StreamConnection& connection, Time now);

 private:
  bool store(StreamConnection& connection, const FileRange& range, Time now);
  void hand_on(StreamConnection& connection, Time now);
  void give_back();

  std::optional<PipePool> own_;
  PipePool& pool_;
  std::optional<PipePool::Pipe> pipe_;
  std::size_t held_ = 0;  // bytes, in the pipe
};

}  // namespace joust

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

// Transfers between files and sockets inside the kernel. If the kernel refuses a transfer, StreamConnection
// copies through user space, so a refusal does not make the transfer fail.
namespace joust {

// Makes one sendfile() of `source`, which must be the connection's. On a blocking socket it waits until the
// send timeout, on a non-blocking one not at all. Returns false when the socket is full, and nothing if the
// kernel cannot send this file. The calling thread needs a SigpipeBlock.
std::optional<bool> send_file(int socket, StreamConnection& connection, const FileRange& source, Time now);

// The two steps of send_file(), for threads that do not hold the connection's lock while they send: the call,
// which returns and fails as sendfile() does, and the report of its result. In between, the session may have
// withdrawn the range.
ssize_t call_sendfile(int socket, const FileRange& source);
std::optional<bool> report_sendfile(StreamConnection& connection, const FileRange& source, ssize_t result,
                                    int error, Time now);

// The same as send_file() for a blocking socket, without waiting. Takes two more system calls.
std::optional<bool> send_file_at_once(int socket, StreamConnection& connection, const FileRange& source,
                                      Time now);

// Moves bytes from a socket into files by splice(), which needs a pipe between them. Each loop, or each
// connection's thread, has one. It borrows a pipe only from fill() to the end of empty().
class FilePipe {
 public:
  explicit FilePipe(Tally& tally) : own_(std::in_place, tally), pool_(*own_) {}
  explicit FilePipe(PipePool& pool) : pool_(pool) {}
  ~FilePipe();
  FilePipe(const FilePipe&) = delete;
  FilePipe& operator=(const FilePipe&) = delete;

  // Returns how many bytes fill() may take for the file that the connection wants filled next; 0: use recv()
  // instead.
  std::size_t wanted(const StreamConnection& connection) const;

  // Calls splice() from the socket: waits, returns and fails as recv() does. Returns nothing if no pipe is
  // available, or if the kernel cannot splice: use recv() then.
  std::optional<ssize_t> fill(int socket, std::size_t most);

  // Moves the bytes of fill() into the file. A failure is reported to the session, which gets the bytes as
  // input.
  void empty(StreamConnection& connection, Time now);

 private:
  bool store(StreamConnection& connection, const FileRange& range, Time now);
  void hand_on(StreamConnection& connection, Time now);
  void give_back();

  std::optional<PipePool> own_;
  PipePool& pool_;
  std::optional<PipePool::Pipe> pipe_;
  std::size_t held_ = 0;  // bytes in the pipe
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "connection/stream_connection.hpp"
#include "connection/tally.hpp"
#include "joust/time.hpp"

// Transfers between files and sockets inside the kernel. If the kernel refuses a transfer, StreamConnection
// copies through user space, so a refusal does not make the transfer fail.
namespace joust {

// Pipes for splice(), shared by all threads of an engine. A thread borrows one only while bytes go through
// it, so an idle connection has none. Pipes are made on demand. Any thread may call all methods.
//
// A pipe is worth its two system calls only if it is large. The sizes are limited for each user
// (fs.pipe-user-pages-soft, fs.pipe-max-size); beyond the limit the kernel makes a small pipe without an
// error. Such a pipe is not used, and a note in the results says so.
class PipePool {
 public:
  struct Pipe {
    Fd from, into;
    std::size_t bytes = 0;  // its capacity
  };
  static constexpr std::size_t kPipeBytes = 1 << 20;  // the capacity that is requested
  static constexpr std::size_t kLeastBytes = 64 << 10;
  static constexpr std::size_t kMostLent = 32;  // each may hold kPipeBytes of kernel memory

  explicit PipePool(Tally& tally);

  // Returns false for a while after no pipe could be made, and for good after refuse().
  bool is_open() const;

  // Returns an empty pipe, or nothing if none is available.
  std::optional<Pipe> borrow();
  // Takes a pipe back. A pipe that is not empty is closed, so that no peer's bytes get into another peer's
  // file.
  void give_back(Pipe pipe, bool is_empty);

  // Closes the pool for good: the kernel cannot splice between the sockets and files of this run.
  void refuse();

 private:
  std::optional<Pipe> make();
  void close_for_a_while(std::string_view why);

  Tally& tally_;
  std::atomic<bool> refused_{false};
  std::atomic<bool> closed_{false};
  std::atomic<Time> open_again_{};
  std::mutex mutex_;
  std::vector<Pipe> idle_;
  std::size_t lent_ = 0;
};

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

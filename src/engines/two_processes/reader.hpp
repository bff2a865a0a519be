// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>

#include "base/fd.hpp"
#include "base/shared_memory.hpp"
#include "engines/two_processes/ring.hpp"

namespace joust {

// The process that reads one socket, for the process that has its session: blocking recv into the ring, and
// nothing else. The child makes system calls only, so it may be forked from a program with several threads.
class Reader {
 public:
  // Makes the socket blocking, and forks. Throws std::system_error if no process can be made; nothing has
  // been received then.
  explicit Reader(int socket);
  ~Reader();  // ends the process
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Bytes content() const { return ring_->content(); }
  int ending() const { return ring_->ending(); }
  bool has_news() const { return ring_->has_news(); }
  void take(std::size_t n);

  // Call it before a wait for fd(), which becomes readable when news has come. Returns false if news has come
  // already.
  bool may_sleep() { return ring_->taker_may_sleep(); }
  int fd() const { return filled_.get(); }
  void woken();  // fd() has become readable

  // Returns a descriptor that is readable when the process has ended; -1 after reap().
  int process_fd() const { return process_.get(); }
  // Call it when the process has ended. Returns 0 if the process ended by itself, or the signal or exit code
  // that ended it.
  int reap();

 private:
  [[noreturn]] void read(int socket, pid_t parent);

  SharedMemory<Ring> ring_;
  Fd filled_, emptied_;  // eventfds
  pid_t pid_ = 0;
  Fd process_;
};

}  // namespace joust

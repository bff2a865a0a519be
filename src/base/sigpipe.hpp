// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>

namespace joust {

// Keeps SIGPIPE from the calling thread, and from threads that it makes, as long as this object exists.
// sendfile() raises the signal when the peer has closed the connection, and has no flag against it, as send()
// has. The destructor restores the thread's state: the thread may belong to a program that uses the signal
// itself.
class SigpipeBlock {
 public:
  SigpipeBlock();
  ~SigpipeBlock();
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  sigset_t before_;
  bool was_pending_;
};

}  // namespace joust

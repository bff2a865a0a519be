// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>

namespace joust {

// Keeps SIGPIPE from the calling thread, and from threads that it makes, for as long as this lives.
// sendfile() raises the signal when the peer has gone, and has no flag against that, as send() has. In the
// end the thread is as it was before: it may belong to a program that has its own use for the signal.
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

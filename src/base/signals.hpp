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

// Blocks all signals of the calling thread. A thread made meanwhile takes none of the program's signals. A
// process forked meanwhile does not run the program's handlers before it has set its own: they might change
// memory that it shares with the program.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace joust

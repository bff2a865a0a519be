// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>

namespace joust {

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

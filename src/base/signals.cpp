// SPDX-License-Identifier: MIT
#include "base/signals.hpp"

#include <pthread.h>

#include <ctime>

#include "base/check.hpp"

namespace joust {
namespace {

sigset_t only_sigpipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

bool is_pending() {
  sigset_t pending;
  ::sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

void take_pending(const sigset_t& set) {
#ifndef __APPLE__
  const timespec at_once{};
  ::sigtimedwait(&set, nullptr, &at_once);
#else  // waits for the signal, which is there
  int taken = 0;
  ::sigwait(&set, &taken);
#endif
}

}  // namespace

SigpipeBlock::SigpipeBlock() : was_pending_(is_pending()) {
  const sigset_t set = only_sigpipe();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
}

// Takes a signal that is pending now: it would arrive as soon as it is unblocked.
SigpipeBlock::~SigpipeBlock() {
  const sigset_t set = only_sigpipe();
  if (!was_pending_ && is_pending()) take_pending(set);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);  // a macro on some systems, so it has no `::`
  checked_number(::pthread_sigmask(SIG_SETMASK, &all, &before_), "pthread_sigmask(SIG_SETMASK)");
}

}  // namespace joust

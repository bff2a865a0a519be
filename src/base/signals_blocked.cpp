// SPDX-License-Identifier: MIT
#include "base/signals_blocked.hpp"

#include "base/check.hpp"

namespace joust {

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);  // a macro on some systems, so it has no `::`
  checked_number(::pthread_sigmask(SIG_SETMASK, &all, &before_), "pthread_sigmask(SIG_SETMASK)");
}

}  // namespace joust

// SPDX-License-Identifier: MIT
// Needs Linux.
#include "engines/forking/signals.hpp"

#include <initializer_list>

namespace joust {

void take_childs_signals() {
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) ::sigaction(number, &action, nullptr);
  action.sa_handler = [](int) {};  // without SA_RESTART: it ends the system call
  ::sigaction(kInterruptChild, &action, nullptr);
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_SETMASK, &pipe, nullptr);
}

}  // namespace joust

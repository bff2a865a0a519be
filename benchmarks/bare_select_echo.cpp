// SPDX-License-Identifier: MIT
//
// A select(2) echo server with nothing around it: the yardstick of the engine select. Peers beyond the
// largest descriptor of an fd_set are turned away. Nothing to build upon.
//
//     bare_select_echo PORT
#include <sys/select.h>
#include <unistd.h>

#include <algorithm>

#include "bare.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: bare_select_echo PORT\n", stderr), 2;
  const int listener = bare::listening_socket(argv[1], SOCK_NONBLOCK);
  fd_set watched;
  FD_ZERO(&watched);
  FD_SET(listener, &watched);
  int most = listener;
  for (;;) {
    fd_set ready = watched;
    int left = ::select(most + 1, &ready, nullptr, nullptr, nullptr);
    for (int fd = 0; fd <= most && left > 0; ++fd) {
      if (!FD_ISSET(fd, &ready)) continue;
      --left;
      if (fd != listener && !bare::echo(fd)) {
        FD_CLR(fd, &watched);
        ::close(fd);
      }
    }
    if (!FD_ISSET(listener, &ready)) continue;
    for (int peer = 0; (peer = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
      if (peer >= FD_SETSIZE) {
        ::close(peer);
        continue;
      }
      FD_SET(peer, &watched);
      most = std::max(most, peer);
    }
  }
}

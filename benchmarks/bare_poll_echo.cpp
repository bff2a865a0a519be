// SPDX-License-Identifier: MIT
//
// A poll(2) echo server with nothing around it: the yardstick of the engine poll. Nothing to build upon.
//
//     bare_poll_echo PORT
#include <poll.h>
#include <unistd.h>

#include <vector>

#include "bare.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: bare_poll_echo PORT\n", stderr), 2;
  std::vector<pollfd> all{
      {.fd = bare::listening_socket(argv[1], SOCK_NONBLOCK), .events = POLLIN, .revents = 0}};
  for (;;) {
    int left = ::poll(all.data(), all.size(), -1);
    for (std::size_t i = all.size(); i-- > 1 && left > 0;) {
      if (all[i].revents == 0) continue;
      --left;
      if (bare::echo(all[i].fd)) continue;
      ::close(all[i].fd);
      all[i] = all.back();
      all.pop_back();
    }
    if (all[0].revents == 0) continue;
    for (int peer = 0; (peer = ::accept4(all[0].fd, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;)
      all.push_back({.fd = peer, .events = POLLIN, .revents = 0});
  }
}

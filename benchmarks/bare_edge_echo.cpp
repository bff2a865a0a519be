// SPDX-License-Identifier: MIT
//
// As bare_epoll_echo, but edge-triggered: the kernel reports a socket once for each arrival. A read that does
// not fill its buffer has emptied the socket, so no second one is needed. The yardstick of the engine epoll
// with trigger=edge. Nothing to build upon.
//
//     bare_edge_echo PORT
#include <sys/epoll.h>
#include <unistd.h>

#include <array>

#include "bare.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: bare_edge_echo PORT\n", stderr), 2;
  const int listener = bare::listening_socket(argv[1], SOCK_NONBLOCK);
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{.events = EPOLLIN, .data = {.fd = listener}};
  if (::epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event) < 0) bare::fail("epoll_ctl");
  std::array<epoll_event, 512> events;
  for (;;) {
    const int count = ::epoll_wait(poll, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      const int ready = events[static_cast<std::size_t>(i)].data.fd;
      if (ready != listener) {
        if (!bare::echo(ready)) ::close(ready);
        continue;
      }
      for (int peer = 0; (peer = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
        event = {.events = EPOLLIN | EPOLLET, .data = {.fd = peer}};
        if (::epoll_ctl(poll, EPOLL_CTL_ADD, peer, &event) < 0) bare::fail("epoll_ctl");
      }
    }
  }
}

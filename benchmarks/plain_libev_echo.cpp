// SPDX-License-Identifier: MIT
//
// An echo server on libev, as a user of the library writes it: a watcher for each socket, and recv and send
// in its callback. It is the yardstick of the engine libev. It has no limits, no deadlines and no way to
// stop, and loses bytes when a peer reads too slowly.
//
//     plain_libev_echo PORT
#include <ev.h>
#include <unistd.h>

#include "bare.hpp"

namespace {

void echo(struct ev_loop* loop, ev_io* watcher, int /*events*/) {
  if (bare::echo(watcher->fd)) return;
  ::ev_io_stop(loop, watcher);
  ::close(watcher->fd);
  delete watcher;
}

void accept_all(struct ev_loop* loop, ev_io* door, int /*events*/) {
  for (int peer = 0; (peer = ::accept4(door->fd, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
    auto* const watcher = new ev_io;
    ev_io_init(watcher, echo, peer, EV_READ);
    ::ev_io_start(loop, watcher);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: plain_libev_echo PORT\n", stderr), 2;
  struct ev_loop* const loop = ::ev_loop_new(EVFLAG_AUTO);
  if (loop == nullptr) bare::fail("ev_loop_new");
  ev_io door;
  ev_io_init(&door, accept_all, bare::listening_socket(argv[1], SOCK_NONBLOCK), EV_READ);
  ::ev_io_start(loop, &door);
  ::ev_run(loop, 0);
}

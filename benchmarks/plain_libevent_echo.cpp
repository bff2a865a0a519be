// SPDX-License-Identifier: MIT
//
// An echo server on libevent, as a user who counts system calls writes it: a persistent event for each
// socket, and recv and send in its callback. (A bufferevent would copy each message twice.) It is the
// yardstick of the engine libevent. It has no limits, no deadlines and no way to stop, and loses bytes when a
// peer reads too slowly.
//
//     plain_libevent_echo PORT
#include <event2/event.h>
#include <unistd.h>

#include "bare.hpp"

namespace {

void echo(evutil_socket_t peer, short /*what*/, void* event) {
  if (bare::echo(peer)) return;
  ::event_free(static_cast<struct event*>(event));
  ::close(peer);
}

void accept_all(evutil_socket_t listener, short /*what*/, void* base) {
  for (int peer = 0; (peer = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
    auto* const made =
        ::event_new(static_cast<event_base*>(base), peer, EV_READ | EV_PERSIST, echo, ::event_self_cbarg());
    if (made == nullptr || ::event_add(made, nullptr) < 0) bare::fail("event_add");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: plain_libevent_echo PORT\n", stderr), 2;
  event_base* const base = ::event_base_new();
  if (base == nullptr) bare::fail("event_base_new");
  const int listener = bare::listening_socket(argv[1], SOCK_NONBLOCK);
  struct event* const door = ::event_new(base, listener, EV_READ | EV_PERSIST, accept_all, base);
  if (door == nullptr || ::event_add(door, nullptr) < 0) bare::fail("event_add");
  return ::event_base_dispatch(base);
}

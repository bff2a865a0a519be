// SPDX-License-Identifier: MIT
//
// An epoll echo server with nothing around it: no sessions, no limits, no deadlines, no way to stop, and
// bytes lost as soon as a peer reads too slowly. It is the yardstick of scenarios/bare-loop.toml, which shows
// what joust's contract costs its epoll engine. Nothing to build upon.
//
//     bare_epoll_echo [ADDRESS:]PORT CPU [ROUNDS [STALL]]
//
// The third argument is computation: so many rounds of a loop for each message. It is no time, because a
// process that measured the loop's speed would measure it at a moment of its own, and two servers with the
// same argument would not compute the same. script/prove races two such servers, one of which computes a
// little longer. With the fourth argument it stands still for 10 ms, without sleep, after so many messages,
// as a program does that collects garbage.
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "bare.hpp"

namespace {

int watch(int poll, int socket) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = socket;
  return ::epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
}

void accept_all(int poll, int listener) {
  for (int peer = 0; (peer = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
    watch(poll, peer);
  }
}

void stand_still() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
  while (std::chrono::steady_clock::now() < until) continue;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5)
    return std::fputs("usage: bare_epoll_echo [ADDRESS:]PORT CPU [ROUNDS [STALL]]\n", stderr), 2;
  bare::pin_to(argv[2]);
  const std::uint64_t rounds = argc > 3 ? bare::number(argv[3], 1'000'000) : 0;
  const std::uint64_t stall = argc > 4 ? bare::number(argv[4], 1'000'000) : 0;
  std::uint64_t messages = 0;
  const int listener = bare::listening_socket(argv[1], SOCK_NONBLOCK);
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  if (watch(poll, listener) < 0) bare::fail("epoll_ctl");
  std::array<epoll_event, 512> events;
  for (;;) {
    const int count = ::epoll_wait(poll, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      const int ready = events[static_cast<std::size_t>(i)].data.fd;
      if (ready == listener) {
        accept_all(poll, listener);
      } else {
        bare::compute(rounds);
        if (!bare::echo(ready)) ::close(ready);
        if (stall > 0 && ++messages % stall == 0) stand_still();
      }
    }
  }
}

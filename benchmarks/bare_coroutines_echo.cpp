// SPDX-License-Identifier: MIT
//
// An echo server of C++20 coroutines on an epoll loop, with no library and nothing around it: each client has
// a coroutine that awaits its socket, edge-triggered, and is resumed by the loop. The yardstick of the engine
// coroutines. Nothing to build upon.
//
//     bare_coroutines_echo PORT
#include <sys/epoll.h>
#include <unistd.h>

#include <coroutine>
#include <exception>

#include <array>

#include "bare.hpp"

namespace {

// A coroutine that nobody waits for: it begins at once, and its frame goes when it ends.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

// The event of a socket is the handle of the coroutine that awaits it.
class Socket {
 public:
  Socket(int poll, int fd) : poll_(poll), fd_(fd) {}

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waits) {
    if (watched_) return;  // it is the same coroutine each time
    watched_ = true;
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = waits.address()}};
    if (::epoll_ctl(poll_, EPOLL_CTL_ADD, fd_, &event) < 0) bare::fail("epoll_ctl");
  }
  void await_resume() const {}

 private:
  const int poll_, fd_;
  bool watched_ = false;
};

Detached echo(int poll, int peer) {
  Socket readable(poll, peer);
  do {
    co_await readable;
  } while (bare::echo(peer));
  ::close(peer);
}

Detached accept(int poll, int listener) {
  Socket readable(poll, listener);
  for (;;) {
    co_await readable;
    for (int peer = 0; (peer = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) echo(poll, peer);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: bare_coroutines_echo PORT\n", stderr), 2;
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  accept(poll, bare::listening_socket(argv[1], SOCK_NONBLOCK));
  std::array<epoll_event, 512> events;
  for (;;) {
    const int count = ::epoll_wait(poll, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i)
      std::coroutine_handle<>::from_address(events[static_cast<std::size_t>(i)].data.ptr).resume();
  }
}

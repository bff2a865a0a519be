// SPDX-License-Identifier: MIT
//
// An epoll echo server with nothing around it: no sessions, no limits, no deadlines, no way to stop, and
// bytes lost as soon as a peer reads too slowly. It is the yardstick of scenarios/bare-loop.toml, which shows
// what joust's contract costs its epoll engine. Nothing to build upon.
//
//     bare_epoll_echo PORT CPU
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

int fail(const char* call) {
  std::perror(call);
  return EXIT_FAILURE;
}

// 0 for what is no number up to `most`.
unsigned number(std::string_view text, unsigned most) {
  unsigned value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && value <= most ? value : 0;
}

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

void echo(int peer) {
  static std::array<char, 1 << 16> bytes;
  const ssize_t count = ::recv(peer, bytes.data(), bytes.size(), 0);
  if (count <= 0)
    ::close(peer);
  else
    ::send(peer, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: bare_epoll_echo PORT CPU\n", stderr), 2;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(number(argv[2], CPU_SETSIZE - 1), &cpus);
  if (::sched_setaffinity(0, sizeof cpus, &cpus) < 0) return fail("sched_setaffinity");

  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);  // what joust sets, so that all compare
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(number(argv[1], 65'535)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0) return fail("bind");
  if (::listen(listener, 4096) < 0) return fail("listen");

  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  if (watch(poll, listener) < 0) return fail("epoll_ctl");
  std::array<epoll_event, 512> events;
  for (;;) {
    const int count = ::epoll_wait(poll, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      const int ready = events[static_cast<std::size_t>(i)].data.fd;
      if (ready == listener)
        accept_all(poll, listener);
      else
        echo(ready);
    }
  }
}

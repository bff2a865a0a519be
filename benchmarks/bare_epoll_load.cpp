// SPDX-License-Identifier: MIT
//
// An epoll echo client with nothing around it: it has one message on each connection in flight, for some
// time, and counts the replies without looking at their bytes. No latencies, no limits, no schedule. It is
// what `joust load` is measured against. Nothing to build upon.
//
//     bare_epoll_load PORT CPU CONNECTIONS PAYLOAD MILLISECONDS [SERVER]
//
// Prints the replies for each second. With the server's process number it prints the CPU time too that the
// server, with all its threads, has used for a reply, in microseconds. Connecting, the first replies of each
// connection, and what follows the last one that counts are not in it. Goes on for longer until each
// connection has had 20 replies in the mean.
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "bare.hpp"

namespace {

using Clock = std::chrono::steady_clock;

// Of each connection in the mean: before the replies that count, and of those.
constexpr std::uint64_t kFirstReplies = 5, kReplies = 20;
constexpr std::chrono::seconds kPatience(60);

struct Connection {
  int socket;
  std::size_t missing;  // bytes of the reply
};

std::array<char, 1 << 16> message{};

int connect_to(std::string_view port) {
  const int fd = bare::tcp_socket(0);
  const sockaddr_in address = bare::address_of(port);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) bare::fail("connect");
  return fd;
}

// Ends the program where the server has ended the connection. True when the reply is complete.
bool take(Connection& connection) {
  static std::array<char, 1 << 16> bytes;
  const ssize_t count = ::recv(connection.socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count <= 0) bare::fail("recv");
  connection.missing -= std::min(connection.missing, static_cast<std::size_t>(count));
  return connection.missing == 0;
}

double cpu_us(pid_t process) {
  clockid_t clock{};
  timespec time{};
  errno = ::clock_getcpuclockid(process, &clock);
  if (errno != 0 || ::clock_gettime(clock, &time) < 0) bare::fail("the CPU clock of the server");
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

void ask(Connection& connection, std::size_t payload) {
  connection.missing = payload;
  ::send(connection.socket, message.data(), payload, MSG_NOSIGNAL);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6 || argc > 7)
    return std::fputs("usage: bare_epoll_load PORT CPU CONNECTIONS PAYLOAD MILLISECONDS [SERVER]\n", stderr),
           2;
  bare::pin_to(argv[2]);
  const std::size_t payload = std::max(1U, bare::number(argv[4], message.size()));
  const std::chrono::milliseconds length(bare::number(argv[5], 3'600'000));
  std::fill_n(message.begin(), payload - 1, 'x');
  message[payload - 1] = '\n';

  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<Connection> connections(std::max(1U, bare::number(argv[3], 20'000)));
  for (Connection& connection : connections) {
    connection.socket = connect_to(argv[1]);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &connection;
    if (::epoll_ctl(poll, EPOLL_CTL_ADD, connection.socket, &event) < 0) bare::fail("epoll_ctl");
  }
  for (Connection& connection : connections) ask(connection, payload);

  std::array<epoll_event, 512> events;
  std::uint64_t replies = 0;
  // Serves until a time, and until so many replies have come.
  const auto serve = [&](Clock::time_point until, std::uint64_t least) {
    for (auto now = Clock::now(); now < until || replies < least; now = Clock::now()) {
      if (now > until + kPatience) {
        errno = ETIMEDOUT;
        bare::fail("the replies");
      }
      const int count = ::epoll_wait(poll, events.data(), events.size(), 1000);
      for (int i = 0; i < count; ++i) {
        Connection& ready = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (!take(ready)) continue;
        ++replies;
        ask(ready, payload);
      }
    }
  };
  // Until all are accepted and served, and the server's caches and queues are filled.
  serve(Clock::now() + length / 10, kFirstReplies * connections.size());
  const pid_t server = argc > 6 ? static_cast<pid_t>(bare::number(argv[6], 1U << 30)) : ::getpid();
  replies = 0;
  const auto begun = Clock::now();
  const double used = cpu_us(server);
  serve(begun + length, kReplies * connections.size());
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  std::printf("%.0f", static_cast<double>(replies) / seconds);
  if (argc > 6) std::printf(" %.4f", (cpu_us(server) - used) / static_cast<double>(replies));
  std::puts("");
}

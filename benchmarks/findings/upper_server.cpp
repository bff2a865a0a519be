// SPDX-License-Identifier: MIT
//
// A server that sends text back in upper case: epoll, one thread. What it does beside is an argument, so two
// of them differ in one thing; or it is compiled twice.
//
//     upper_server PORT [log=none|newline|endl] [calls=N]
//
// log    a line for each message on standard output: written when 4 KiB have come (newline) or at once (endl)
// calls  so many additional system calls for each message, which do nothing
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>

#include "../bare.hpp"

namespace {

enum class Log { none, newline, endl };

struct Beside {
  Log log = Log::none;
  unsigned calls = 0;
};

Beside beside(int argc, char** argv) {
  Beside made;
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "log=newline")
      made.log = Log::newline;
    else if (word == "log=endl")
      made.log = Log::endl;
    else if (word.starts_with("calls="))
      made.calls = bare::number(word.substr(6), 1000);
    else if (word != "log=none")
      bare::number(word, 0);
  }
  return made;
}

void watch(int poll, int socket) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = socket;
  if (::epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event) < 0) bare::fail("epoll_ctl");
}

void log_line(Log log, int peer, std::size_t bytes) {
  if (log == Log::newline) std::cout << "client " << peer << ": " << bytes << " bytes\n";
  if (log == Log::endl) std::cout << "client " << peer << ": " << bytes << " bytes" << std::endl;
}

void answer(int peer, const Beside& beside) {
  static std::array<char, 1 << 16> bytes;
  const ssize_t count = ::recv(peer, bytes.data(), bytes.size(), 0);
  if (count <= 0) {
    ::close(peer);
    return;
  }
  std::string text(bytes.data(), static_cast<std::size_t>(count));
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
  for (unsigned i = 0; i < beside.calls; ++i) ::syscall(SYS_getppid);
  log_line(beside.log, peer, text.size());
  ::send(peer, text.data(), text.size(), MSG_NOSIGNAL);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("usage: upper_server PORT [log=none|newline|endl] [calls=N]\n", stderr), 2;
  const Beside what = beside(argc, argv);
  std::ios::sync_with_stdio(false);  // else each line is written at once whatever ends it
  const int listener = bare::listening_socket(argv[1], SOCK_NONBLOCK);
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  watch(poll, listener);
  std::array<epoll_event, 512> events;
  for (;;) {
    const int count = ::epoll_wait(poll, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      const int ready = events[static_cast<std::size_t>(i)].data.fd;
      if (ready != listener)
        answer(ready, what);
      else
        for (int peer = 0; (peer = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;)
          watch(poll, peer);
    }
  }
}

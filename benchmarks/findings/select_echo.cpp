// SPDX-License-Identifier: MIT
//
// An echo server on select() with the C library's fd_set, which has room for descriptors below 1,024
// (FD_SETSIZE). It closes what does not fit; FD_SET on such a descriptor would write behind the set.
//
//     select_echo PORT
#include <sys/select.h>
#include <unistd.h>

#include <array>

#include "../bare.hpp"

namespace {

class Peers {
 public:
  explicit Peers(int listener) : listener_(listener), highest_(listener) {
    FD_ZERO(&watched_);
    FD_SET(listener, &watched_);
  }

  void wait_and_serve() {
    fd_set ready = watched_;
    if (::select(highest_ + 1, &ready, nullptr, nullptr, nullptr) < 0) bare::fail("select");
    for (int fd = 0; fd <= highest_; ++fd) {
      if (!FD_ISSET(fd, &ready)) continue;
      if (fd == listener_)
        accept_all();
      else
        echo(fd);
    }
  }

 private:
  void accept_all() {
    for (int peer = 0; (peer = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
      if (peer >= FD_SETSIZE) {
        ::close(peer);
        continue;
      }
      FD_SET(peer, &watched_);
      if (peer > highest_) highest_ = peer;
    }
  }

  void echo(int peer) {
    static std::array<char, 1 << 16> bytes;
    const ssize_t count = ::recv(peer, bytes.data(), bytes.size(), 0);
    if (count > 0) {
      ::send(peer, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL);
    } else {
      FD_CLR(peer, &watched_);
      ::close(peer);
    }
  }

  const int listener_;
  int highest_;
  fd_set watched_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: select_echo PORT\n", stderr), 2;
  Peers peers(bare::listening_socket(argv[1], SOCK_NONBLOCK));
  for (;;) peers.wait_and_serve();
}

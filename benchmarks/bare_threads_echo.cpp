// SPDX-License-Identifier: MIT
//
// An echo server with a thread for each connection, which blocks in its calls, and nothing around it: the
// yardstick of the engine threads. Nothing to build upon.
//
//     bare_threads_echo PORT
#include <unistd.h>

#include <thread>

#include "bare.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: bare_threads_echo PORT\n", stderr), 2;
  const int listener = bare::listening_socket(argv[1], 0);
  for (;;) {
    const int peer = ::accept(listener, nullptr, nullptr);
    if (peer < 0) bare::fail("accept");
    std::thread([peer] {
      while (bare::echo(peer)) continue;
      ::close(peer);
    }).detach();
  }
}

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace joust {

// What is asked of every socket of a server or a client, whatever the engine.
struct SocketOptions {
  bool nodelay = true;     // TCP_NODELAY
  int send_buffer = 0;     // bytes, SO_SNDBUF; 0: the kernel's choice
  int receive_buffer = 0;  // bytes, SO_RCVBUF; 0: the kernel's choice
  std::string congestion =
      "cubic";         // empty: the machine's default. Pacing ones (bbr) halve loopback's throughput
  int backlog = 4096;  // listeners; the kernel caps it at net.core.somaxconn
};

}  // namespace joust

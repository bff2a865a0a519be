// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace joust {

// The options of every socket of a server or a client, the same for all engines.
struct SocketOptions {
  bool nodelay = true;     // TCP_NODELAY
  int send_buffer = 0;     // bytes, SO_SNDBUF; 0: the kernel's choice
  int receive_buffer = 0;  // bytes, SO_RCVBUF; 0: the kernel's choice
  std::string congestion =
      "cubic";         // empty: the system's default. Algorithms that pace (bbr) halve loopback's throughput
  int backlog = 4096;  // listeners; the kernel caps it at net.core.somaxconn
};

}  // namespace joust

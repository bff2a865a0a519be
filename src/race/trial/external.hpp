// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace joust::race {

// Returns a free port of the loopback address. Another program may take it before the contestant does. The
// contestant then fails to start, which is reported like any failure. Throws std::system_error.
std::uint16_t free_port();

// Returns true if connections to this port of the loopback address are accepted.
bool accepts(std::uint16_t port);

// The addresses at which processes listen for TCP connections.
struct ListeningAddresses {
  std::vector<std::string> addresses{};  // "127.0.0.1:80", "[::]:80"
  bool complete = true;                  // false: the descriptors of a process may not be read here

  // Returns whether a connection to this port of 127.0.0.1 reaches one of the addresses.
  bool reached_at(std::uint16_t port) const;
};
ListeningAddresses listening_addresses(std::span<const pid_t> processes);

}  // namespace joust::race

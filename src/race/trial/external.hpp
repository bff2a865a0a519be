// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace joust::race {

// Returns "127.0.0.1:80", "[::1]:80".
std::string host_and_port(const std::string& address, const std::string& port);

// Returns a free port of an address of this host. Another program may take it before the contestant does. The
// contestant then fails to start, which is reported like any failure. Throws std::system_error.
std::uint16_t free_port(const std::string& address);

// Returns true if connections to this port of the address are accepted.
bool accepts(const std::string& address, std::uint16_t port);

// The addresses at which processes listen for TCP connections.
struct ListeningAddresses {
  std::vector<std::string> addresses{};  // "127.0.0.1:80", "[::]:80"
  bool complete = true;                  // false: the descriptors of a process may not be read here

  // Returns whether a connection to this address, with a port, reaches one of them.
  bool reached_at(const std::string& address) const;
};
ListeningAddresses listening_addresses(std::span<const pid_t> processes);

}  // namespace joust::race

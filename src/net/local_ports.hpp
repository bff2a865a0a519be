// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "net/address.hpp"

// Each connection from one source address to one destination needs a local port of its own, and the kernel
// takes these ports from one range (net.ipv4.ip_local_port_range).
namespace joust {

struct LocalPorts {
  std::uint64_t first = 32768, last = 60999;

  std::uint64_t count() const { return last - first + 1; }
};

LocalPorts local_ports();  // this machine's; the kernel's default if /proc does not have them

// Returns from how many source addresses so many connections to the endpoint must come; 1: the kernel's
// choice is enough. Only IPv4 loopback has several. For other addresses the error names the shortage and the
// remedy.
std::expected<std::uint64_t, std::string> sources_for(const Endpoint& endpoint, std::uint64_t connections,
                                                      const LocalPorts& ports);

// Binds a socket that will connect within IPv4 loopback to source `number`: 127.0.0.2, 127.0.0.3, ... The
// port is chosen by connect(), so that one port serves several destinations. Throws std::system_error.
void bind_to_source(int socket, std::uint64_t number);

bool is_ipv4_loopback(const Endpoint& endpoint);  // 127.0.0.0/8

}  // namespace joust

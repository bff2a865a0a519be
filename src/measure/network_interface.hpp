// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "joust/time.hpp"

namespace joust {

// A network interface of this machine, as the kernel describes it.
struct NetworkInterface {
  std::string name{};                               // "eth0"
  std::string driver{};                             // "mlx5_core"; empty if it is not known
  std::uint64_t mtu_bytes = 0;                      // 0 if it is not known
  std::optional<std::uint64_t> speed_mbit_per_s{};  // of its link; virtual devices have none
  std::vector<std::string> offloads{};  // that are on: "tso", "gso", "gro", "tx-checksum", "rx-checksum"
};

// Returns the interface that has the address, as "10.1.2.3"; nothing if none has it.
std::optional<NetworkInterface> interface_with(const std::string& address);

// Returns the address of this machine in a fabric: on an interface ("eth1"), or in a subnet ("10.1.0.0/16",
// "fd00::/8"). IPv4 comes first. The error lists the addresses that this machine has.
std::expected<std::string, std::string> address_in(const std::string& fabric);

// A network of IPv4 that this machine has an address in, without loopback.
struct OwnNetwork {
  std::string interface;  // "eth0"
  std::string subnet;     // "10.1.0.0/16"
};
std::vector<OwnNetwork> own_networks();
// Returns whether an address in digits is in a subnet.
bool is_in_subnet(const std::string& address, const std::string& subnet);

// Returns the address by which this machine sends to another address; empty if it has no route.
std::string address_towards(const std::string& address);

// Returns the least time from a request to its answer between this machine and an address: that of a TCP
// connection to the port 9, which is accepted or, mostly, refused. Nothing if there is no answer within a
// second.
std::optional<Duration> round_trip_to(const std::string& address);

}  // namespace joust

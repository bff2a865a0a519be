// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>

#include <expected>
#include <string>
#include <string_view>

#include "engines/engine.hpp"
#include "net/address.hpp"

// Groups of IPv4 multicast. The routing table chooses the interface on which a socket sends, and the one on
// which it is a member, unless they are set explicitly. So both are set.
namespace joust {

// The default group: one of those that are free for use within a site.
inline constexpr std::string_view kStandardGroup = "239.255.0.1:0";

struct MulticastInterface {
  std::string name;
  int index = 0;
  Endpoint address{};  // the address of this machine on the interface, with port 0
  bool is_loopback = false;
};
// Finds an interface by its name; the error is a text.
std::expected<MulticastInterface, std::string> find_interface(const std::string& name);
// Finds the interface of the knobs, which way_of_group() has found before. Throws std::runtime_error.
MulticastInterface required_interface(const Settings& knobs);

// Lets the socket send to groups on the interface: on loopback to this machine only, elsewhere up to the next
// router. Throws std::system_error, as join_group() does.
void send_on(const MulticastInterface& interface, int socket);
// Makes the socket, which is bound to the group's address, a member on the interface. The socket receives
// nothing from groups that other sockets of this machine have joined.
void join_group(const Endpoint& group, const MulticastInterface& interface, int socket);

// Engine::way_of_group: finds the interface of the knob `interface`, and sends one datagram to the group and
// back.
GroupWay way_of_group(const Endpoint& group, const Settings& knobs);
// Engine::unavailable: does the same with the default group and interface.
std::string no_multicast();

}  // namespace joust

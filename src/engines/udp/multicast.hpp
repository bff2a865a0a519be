// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>

#include <expected>
#include <string>
#include <string_view>

#include "engines/engine.hpp"
#include "net/address.hpp"

// Groups of IPv4 multicast. Whatever is not said explicitly is chosen by the routing table, so it is said: on
// which interface a socket sends, and where it is a member.
namespace joust {

// What is listened to if nothing is said: a group of those that are free for use within a site.
inline constexpr std::string_view kStandardGroup = "239.255.0.1:0";

struct MulticastInterface {
  std::string name;
  int index = 0;
  Endpoint address{};  // of this machine there, with port 0
  bool is_loopback = false;
};
// By its name; the error is in words.
std::expected<MulticastInterface, std::string> find_interface(const std::string& name);
// The same for an interface that way_of_group() has found. Throws std::runtime_error.
MulticastInterface required_interface(const Settings& knobs);

// Lets the socket send to groups on the interface: on loopback to this machine only, elsewhere up to the next
// router. Throws std::system_error, as the next one.
void send_on(const MulticastInterface& interface, int socket);
// Makes the socket, which is bound to the group's address, a member on the interface. It hears nothing of
// groups that others of this machine have joined.
void join_group(const Endpoint& group, const MulticastInterface& interface, int socket);

// Engine::way_of_group: looks the knob `interface` up, and sends one datagram to the group and back.
GroupWay way_of_group(const Endpoint& group, const Settings& knobs);
// Engine::unavailable: the same with what holds if nothing is said.
std::string no_multicast();

}  // namespace joust

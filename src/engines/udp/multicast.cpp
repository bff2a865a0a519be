// SPDX-License-Identifier: MIT
// Needs Linux.
#include "engines/udp/multicast.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/system/sockets.hpp"
#include "base/text.hpp"
#include "engines/udp/peer.hpp"

namespace joust {
namespace {

constexpr std::string_view kLoopback = "lo";

// A datagram that is sent to this machine arrives at once; this bounds the time that a busy machine takes.
constexpr std::chrono::duration<int, std::milli> kPatience(200);

template <typename Value>
void set(int socket, int option, const Value& value, const char* name) {
  checked(::setsockopt(socket, IPPROTO_IP, option, &value, sizeof value), "setsockopt({})", name);
}

ip_mreqn on(const MulticastInterface& interface) {
  ip_mreqn where{};
  where.imr_ifindex = interface.index;
  return where;
}

Fd bound_to(const Endpoint& address) {
  Fd socket = datagram_socket(address.family(), SOCK_NONBLOCK);
  checked(socket.get(), "socket({})", address.family());
  checked(::bind(socket.get(), address.raw(), address.size), "bind({})", to_text(address));
  return socket;
}

// Sends a random word to the group, on a port of its own, and waits until it arrives. The datagram does not
// leave this machine.
bool arrives(const Endpoint& group, const MulticastInterface& interface) {
  const Fd receiver = bound_to(with_port(group, 0)), sender = bound_to(interface.address);
  join_group(group, interface, receiver.get());
  send_on(interface, sender.get());
  set(sender.get(), IP_MULTICAST_TTL, 0, "IP_MULTICAST_TTL");
  const HashKey word = random_key();
  const Endpoint to = bound_address(receiver.get());
  checked(::sendto(sender.get(), &word, sizeof word, 0, to.raw(), to.size), "sendto({})", to_text(to));
  pollfd input{.fd = receiver.get(), .events = POLLIN, .revents = 0};
  const Time until = Clock::now() + kPatience;  // other programs may send to that port for ever
  while (Clock::now() < until && ::poll(&input, 1, kPatience.count()) > 0) {
    std::array<std::byte, sizeof word> came{};
    Endpoint from;
    const ssize_t size = receive_datagram(receiver.get(), came, from);
    if (size == sizeof word && std::memcmp(came.data(), &word, sizeof word) == 0) return true;
  }
  return false;
}

std::string obstacle(const Endpoint& group, const MulticastInterface& interface) {
  try {
    if (arrives(group, interface)) return {};
    return fmt::format("what is sent to {} on interface {} does not come back", to_text(group),
                       interface.name);
  } catch (const std::system_error& error) {
    return fmt::format("interface {} does not carry {}: {}", interface.name, to_text(group), error.what());
  }
}

// Returns the names of this machine's interfaces: "lo, eth0".
std::string interface_names() {
  const std::unique_ptr<struct if_nameindex, decltype(&::if_freenameindex)> all(::if_nameindex(),
                                                                                ::if_freenameindex);
  std::vector<std::string> names;
  for (const auto* one = all.get(); one != nullptr && one->if_index != 0; ++one)
    names.emplace_back(one->if_name);
  return join(names);
}

std::string chosen(const Settings& knobs) {
  const auto found = knobs.find("interface");
  return found == knobs.end() ? std::string(kLoopback) : found->second;
}

}  // namespace

std::expected<MulticastInterface, std::string> find_interface(const std::string& name) {
  ifaddrs* first = nullptr;
  checked(::getifaddrs(&first), "getifaddrs()");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, ::freeifaddrs);
  bool exists = false, is_up = false;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (name != one->ifa_name) continue;
    exists = true;
    is_up = (one->ifa_flags & IFF_UP) != 0;
    if (!is_up || one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    MulticastInterface found{.name = name,
                             .index = static_cast<int>(::if_nametoindex(name.c_str())),
                             .is_loopback = (one->ifa_flags & IFF_LOOPBACK) != 0};
    std::memcpy(&found.address.storage, one->ifa_addr, sizeof(sockaddr_in));
    found.address.size = sizeof(sockaddr_in);
    return found;
  }
  if (!exists) return std::unexpected(fmt::format("there is no interface {}", name));
  return std::unexpected(fmt::format("interface {} {}", name, is_up ? "has no address of IPv4" : "is down"));
}

MulticastInterface required_interface(const Settings& knobs) {
  auto found = find_interface(chosen(knobs));
  if (!found) throw std::runtime_error(found.error());
  return std::move(*found);
}

void send_on(const MulticastInterface& interface, int socket) {
  set(socket, IP_MULTICAST_IF, on(interface), "IP_MULTICAST_IF");
  set(socket, IP_MULTICAST_TTL, interface.is_loopback ? 0 : 1, "IP_MULTICAST_TTL");
  set(socket, IP_MULTICAST_LOOP, 1, "IP_MULTICAST_LOOP");  // members on this machine receive it too
}

void join_group(const Endpoint& group, const MulticastInterface& interface, int socket) {
  ip_mreqn membership = on(interface);
  sockaddr_in address{};
  std::memcpy(&address, &group.storage, sizeof address);
  membership.imr_multiaddr = address.sin_addr;
  set(socket, IP_MULTICAST_ALL, 0, "IP_MULTICAST_ALL");
  set(socket, IP_ADD_MEMBERSHIP, membership, "IP_ADD_MEMBERSHIP");
}

GroupWay way_of_group(const Endpoint& group, const Settings& knobs) {
  const std::string name = chosen(knobs);
  const auto interface = find_interface(name);
  if (!interface && name != kLoopback && ::if_nametoindex(name.c_str()) == 0)
    return {.wrong_knob =
                fmt::format("--interface: {}; there are: {}", interface.error(), interface_names())};
  if (!interface) return {.obstacle = interface.error()};
  return {.obstacle = obstacle(group, *interface), .is_local = interface->is_loopback};
}

std::string no_multicast() {
  return way_of_group(resolve(kStandardGroup)->front(), {}).obstacle;
}

}  // namespace joust

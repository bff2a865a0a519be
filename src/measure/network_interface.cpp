// SPDX-License-Identifier: MIT
#include "measure/network_interface.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>

#include "base/fd.hpp"
#include "base/system/sockets.hpp"
#include "measure/proc_file.hpp"
#if defined(__linux__)
#include <linux/ethtool.h>
#include <linux/sockios.h>
#endif

namespace joust {
namespace {

struct AddressOfInterface {
  std::string interface {
  }, address{};
  std::vector<unsigned char> bytes{};  // in network order
};

std::vector<unsigned char> bytes_of(const sockaddr* address) {
  const auto copied = [](const auto& part) {
    std::vector<unsigned char> bytes(sizeof part);
    std::memcpy(bytes.data(), &part, sizeof part);
    return bytes;
  };
  if (address->sa_family == AF_INET) return copied(reinterpret_cast<const sockaddr_in*>(address)->sin_addr);
  return copied(reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

std::string digits_of(std::span<const unsigned char> bytes) {
  char text[INET6_ADDRSTRLEN] = {};
  return ::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text) == nullptr
             ? ""
             : text;
}

// Returns the bytes of an address in digits; none for another text.
std::vector<unsigned char> bytes_of(const std::string& text) {
  std::vector<unsigned char> bytes(16);
  if (::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1)
    bytes.resize(4);
  else if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1)
    bytes.clear();
  return bytes;
}

// Returns the addresses of interfaces that are up, IPv4 first. Link-local addresses of IPv6 are left out,
// because they are no addresses without their interface.
std::vector<AddressOfInterface> own_addresses() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, ::freeifaddrs);
  std::vector<AddressOfInterface> found;
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family || (one->ifa_flags & IFF_UP) == 0)
        continue;
      std::vector<unsigned char> bytes = bytes_of(one->ifa_addr);
      if (bytes.size() == 16 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) continue;
      found.push_back({.interface = one->ifa_name, .address = digits_of(bytes), .bytes = std::move(bytes)});
    }
  return found;
}

std::optional<std::uint64_t> positive_number_in(const std::string& path) {
  const std::string text(trimmed(read_proc_file(path).value_or("")));
  std::int64_t number = -1;  // of a link that is down, or has no speed
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number > 0 ? std::optional(static_cast<std::uint64_t>(number)) : std::nullopt;
}

#if defined(__linux__)
// Asks the driver of an interface. Returns false where it does not answer.
bool ask_driver(const std::string& interface, void* question) {
  ifreq request{};
  interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
  request.ifr_data = static_cast<char*>(question);
  const Fd socket = datagram_socket(AF_INET, 0);
  return socket.is_open() && ::ioctl(socket.get(), SIOCETHTOOL, &request) == 0;
}

std::vector<std::string> offloads_of(const std::string& interface) {
  constexpr std::pair<const char*, std::uint32_t> kOffloads[] = {{"tso", ETHTOOL_GTSO},
                                                                 {"gso", ETHTOOL_GGSO},
                                                                 {"gro", ETHTOOL_GGRO},
                                                                 {"tx-checksum", ETHTOOL_GTXCSUM},
                                                                 {"rx-checksum", ETHTOOL_GRXCSUM}};
  std::vector<std::string> on;
  for (const auto& [name, command] : kOffloads) {
    ethtool_value value{.cmd = command, .data = 0};
    if (ask_driver(interface, &value) && value.data != 0) on.emplace_back(name);
  }
  return on;
}

std::string driver_of(const std::string& interface) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  if (!ask_driver(interface, &info)) return {};
  return {info.driver, ::strnlen(info.driver, sizeof info.driver)};
}
#else
std::vector<std::string> offloads_of(const std::string&) {
  return {};
}
std::string driver_of(const std::string&) {
  return {};
}
#endif

bool begins_with(std::span<const unsigned char> address, std::span<const unsigned char> prefix,
                 unsigned bits) {
  if (address.size() != prefix.size()) return false;
  for (std::size_t i = 0; i < address.size() && bits > 0; ++i) {
    const unsigned here = std::min(bits, 8U), shift = 8 - here;
    if ((address[i] >> shift) != (prefix[i] >> shift)) return false;
    bits -= here;
  }
  return true;
}

// Reads "10.1.0.0/16". Nothing for another text, like the name of an interface.
std::optional<std::pair<std::vector<unsigned char>, unsigned>> subnet_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::vector<unsigned char> prefix = bytes_of(text.substr(0, slash));
  if (prefix.empty()) return std::nullopt;
  auto bits = static_cast<unsigned>(8 * prefix.size());
  if (slash != std::string::npos) {
    unsigned given = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + slash + 1, end, given);
    if (error != std::errc() || rest != end || given > bits) return std::nullopt;
    bits = given;
  }
  return std::pair(prefix, bits);
}

// Returns port 9 of an address in digits, where hardly any program listens.
std::optional<std::pair<sockaddr_storage, socklen_t>> unused_port_of(const std::string& address) {
  constexpr std::uint16_t kDiscard = 9;
  const std::vector<unsigned char> bytes = bytes_of(address);
  if (bytes.empty()) return std::nullopt;
  const bool is_v4 = bytes.size() == 4;
  std::pair<sockaddr_storage, socklen_t> to{
      {}, static_cast<socklen_t>(is_v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6))};
  if (is_v4) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(to.first);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(kDiscard);
    std::memcpy(&v4.sin_addr, bytes.data(), bytes.size());
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(to.first);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(kDiscard);
    std::memcpy(&v6.sin6_addr, bytes.data(), bytes.size());
  }
  return to;
}

}  // namespace

std::optional<NetworkInterface> interface_with(const std::string& address) {
  const std::vector<unsigned char> bytes = bytes_of(address);
  for (const AddressOfInterface& own : own_addresses()) {
    if (own.bytes != bytes) continue;
    const std::string folder = "/sys/class/net/" + own.interface;
    return NetworkInterface{.name = own.interface,
                            .driver = driver_of(own.interface),
                            .mtu_bytes = positive_number_in(folder + "/mtu").value_or(0),
                            .speed_mbit_per_s = positive_number_in(folder + "/speed"),
                            .offloads = offloads_of(own.interface)};
  }
  return std::nullopt;
}

std::vector<OwnNetwork> own_networks() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, ::freeifaddrs);
  std::vector<OwnNetwork> found;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_netmask == nullptr || one->ifa_addr->sa_family != AF_INET)
      continue;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    std::vector<unsigned char> network = bytes_of(one->ifa_addr);
    int bits = 0;
    for (std::size_t i = 0; const unsigned char mask : bytes_of(one->ifa_netmask)) {
      network[i++] &= mask;
      bits += std::popcount(mask);
    }
    found.push_back({.interface = one->ifa_name, .subnet = fmt::format("{}/{}", digits_of(network), bits)});
  }
  return found;
}

bool is_in_subnet(const std::string& address, const std::string& subnet) {
  const auto prefix = subnet_of(subnet);
  return prefix && begins_with(bytes_of(address), prefix->first, prefix->second);
}

std::expected<std::string, std::string> address_in(const std::string& fabric) {
  const auto subnet = subnet_of(fabric);
  std::string all;
  for (const AddressOfInterface& own : own_addresses()) {
    if (subnet ? begins_with(own.bytes, subnet->first, subnet->second) : own.interface == fabric)
      return own.address;
    all += fmt::format("{}{} on {}", all.empty() ? "" : ", ", own.address, own.interface);
  }
  return std::unexpected(
      fmt::format("this host has no address in '{}', an interface or a subnet like 10.1.0.0/16; it has {}",
                  fabric, all.empty() ? "none" : all));
}

// A datagram socket that is connected sends nothing, and shows the address that the kernel chose.
std::string address_towards(const std::string& address) {
  const auto to = unused_port_of(address);
  if (!to) return {};
  const Fd probe = datagram_socket(to->first.ss_family, 0);
  if (!probe.is_open() ||
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&to->first), to->second) != 0)
    return {};
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
  return digits_of(bytes_of(reinterpret_cast<sockaddr*>(&own)));
}

std::optional<Duration> round_trip_to(const std::string& address) {
  constexpr int kProbes = 10, kLongest_ms = 1000;
  const auto to = unused_port_of(address);
  std::optional<Duration> least;
  for (int probe = 0; to && probe < kProbes; ++probe) {
    const Fd socket = stream_socket(to->first.ss_family, SOCK_NONBLOCK);
    if (!socket.is_open()) break;
    const Time began = Clock::now();
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to->first), to->second) != 0 &&
        errno == EINPROGRESS) {
      pollfd answered{socket.get(), POLLOUT, 0};
      if (::poll(&answered, 1, kLongest_ms) <= 0) break;
    }
    const Duration took = Clock::now() - began;
    least = std::min(least.value_or(took), took);
  }
  return least;
}

}  // namespace joust

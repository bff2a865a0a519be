// SPDX-License-Identifier: MIT
#include "race/trial/external.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/check.hpp"
#include "base/system/sockets.hpp"
#include "measure/proc_file.hpp"
#include "net/address.hpp"

namespace joust::race {
namespace {

// Returns the endpoint of an address in digits. Throws std::system_error for any other text.
Endpoint numeric_endpoint(const std::string& address, std::uint16_t port) {
  const auto found = resolve(host_and_port(address, "1"));
  if (!found) throw std::system_error(EINVAL, std::generic_category(), address + " is no address");
  return with_port(found->front(), port);
}

Fd tcp_socket(const Endpoint& endpoint) {
  Fd socket = stream_socket(endpoint.family(), 0);
  checked(socket.get(), "socket()");
  return socket;
}

// Adds the inodes of the sockets that a process has open. Returns false if its descriptors may not be read.
bool add_sockets(pid_t process, std::set<std::uint64_t>& inodes) {
  std::error_code error;
  std::filesystem::directory_iterator entry(fmt::format("/proc/{}/fd", process), error);
  if (error) return error == std::errc::no_such_file_or_directory;
  constexpr std::string_view kSocket = "socket:[";
  for (const std::filesystem::directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code closed;
    const std::string target = std::filesystem::read_symlink(entry->path(), closed);
    if (target.starts_with(kSocket)) inodes.insert(leading_number(target.substr(kSocket.size())));
  }
  return true;
}

// Reads an address in the form of /proc/net/tcp and tcp6: words in hexadecimal, each in the machine's byte
// order.
Endpoint endpoint_in_hex(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto number = [&](std::size_t at, std::size_t digits) {
    std::uint32_t value = 0;
    std::from_chars(text.data() + at, text.data() + std::min(at + digits, text.size()), value, 16);
    return value;
  };
  constexpr std::size_t kWord = 8;
  const auto port = static_cast<std::uint16_t>(colon < text.size() ? number(colon + 1, 4) : 0);
  Endpoint endpoint;
  if (colon == kWord) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = number(0, kWord);
    std::memcpy(&endpoint.storage, &address, endpoint.size = sizeof address);
  } else {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t word = number(i * kWord, kWord);
      std::memcpy(address.sin6_addr.s6_addr + i * sizeof word, &word, sizeof word);
    }
    std::memcpy(&endpoint.storage, &address, endpoint.size = sizeof address);
  }
  return endpoint;
}

void add_addresses(const char* file, const std::set<std::uint64_t>& inodes,
                   std::vector<std::string>& addresses) {
  constexpr std::string_view kListens = "0A";
  std::istringstream lines(read_proc_file(file).value_or(""));
  std::string line;
  std::getline(lines, line);  // the header line of the table
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string number, local, remote, state, skipped;
    std::uint64_t inode = 0;
    fields >> number >> local >> remote >> state;
    for (int field = 4; field < 9; ++field) fields >> skipped;
    fields >> inode;
    if (state == kListens && inodes.contains(inode)) addresses.push_back(to_text(endpoint_in_hex(local)));
  }
}

}  // namespace

std::string host_and_port(const std::string& address, const std::string& port) {
  return address.contains(':') ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

// An IPv6 socket may accept connections of IPv4, whose addresses it shows as [::ffff:127.0.0.1].
bool ListeningAddresses::reached_at(const std::string& address) const {
  const std::string host = host_of(address), port = address.substr(address.rfind(':') + 1);
  return std::ranges::any_of(std::array<std::string, 4>{address, "0.0.0.0:" + port, "[::]:" + port,
                                                        fmt::format("[::ffff:{}]:{}", host, port)},
                             [&](const std::string& one) { return std::ranges::count(addresses, one) != 0; });
}

ListeningAddresses listening_addresses(std::span<const pid_t> processes) {
  ListeningAddresses listening;
  std::set<std::uint64_t> inodes;
  for (const pid_t process : processes) listening.complete &= add_sockets(process, inodes);
  for (const char* const file : {"/proc/net/tcp", "/proc/net/tcp6"})
    add_addresses(file, inodes, listening.addresses);
  return listening;
}

std::uint16_t free_port(const std::string& address) {
  const Endpoint endpoint = numeric_endpoint(address, 0);
  const Fd socket = tcp_socket(endpoint);
  checked(::bind(socket.get(), endpoint.raw(), endpoint.size), "bind({}, port 0)", address);
  return port_of(bound_address(socket.get()));
}

bool accepts(const std::string& address, std::uint16_t port) {
  const Endpoint endpoint = numeric_endpoint(address, port);
  return ::connect(tcp_socket(endpoint).get(), endpoint.raw(), endpoint.size) == 0;
}

}  // namespace joust::race

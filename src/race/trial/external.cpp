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

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Fd ipv4_socket() {
  Fd socket = stream_socket(AF_INET, 0);
  checked(socket.get(), "socket(AF_INET)");
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
    sockaddr_in address = loopback(port);
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

bool ListeningAddresses::reached_at(std::uint16_t port) const {
  return std::ranges::any_of(
      std::array{"127.0.0.1", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]"},
      [&](const char* host) { return std::ranges::count(addresses, fmt::format("{}:{}", host, port)) != 0; });
}

ListeningAddresses listening_addresses(std::span<const pid_t> processes) {
  ListeningAddresses listening;
  std::set<std::uint64_t> inodes;
  for (const pid_t process : processes) listening.complete &= add_sockets(process, inodes);
  for (const char* const file : {"/proc/net/tcp", "/proc/net/tcp6"})
    add_addresses(file, inodes, listening.addresses);
  return listening;
}

std::uint16_t free_port() {
  const Fd socket = ipv4_socket();
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  checked(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), "bind(127.0.0.1:0)");
  checked(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname()");
  return ntohs(address.sin_port);
}

bool accepts(std::uint16_t port) {
  const Fd socket = ipv4_socket();
  const sockaddr_in address = loopback(port);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace joust::race

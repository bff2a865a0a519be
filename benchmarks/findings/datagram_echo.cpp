// SPDX-License-Identifier: MIT
//
// Two ways in which figures of datagrams mislead, by an echo server on UDP.
//
//     datagram_echo PORT room=BYTES [rounds=N]    the socket has so much room (SO_RCVBUF); what comes while
//     it
//                                                 is full is dropped. It computes so many rounds for a
//                                                 message.
//     datagram_echo PORT group=hears|deaf         each message also goes to a group of the same port, as in a
//                                                 broadcast. With IP_MULTICAST_ALL (hears, the default of
//                                                 Linux) the server's own socket gets what any socket of the
//                                                 machine has joined for: its own output, and passes it on.
#include <array>
#include <string_view>

#include "../bare.hpp"

namespace {

constexpr std::uint32_t group = 0xEFFF4D4D;  // 239.255.77.77, for use within a site

struct Settings {
  int room = 0;
  unsigned rounds = 0;
  bool sends_to_group = false;
  bool hears_groups = false;
};

Settings settings(int argc, char** argv) {
  Settings made;
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("room="))
      made.room = static_cast<int>(bare::number(word.substr(5), 1 << 24));
    else if (word.starts_with("rounds="))
      made.rounds = bare::number(word.substr(7), 10'000'000);
    else if (word == "group=hears" || word == "group=deaf")
      made.sends_to_group = true, made.hears_groups = word == "group=hears";
    else
      bare::number(word, 0);
  }
  return made;
}

// Stands for the clients: a socket of this machine that has joined the group.
void join_group() {
  const int member = ::socket(AF_INET, SOCK_DGRAM, 0);
  ip_mreqn membership{};
  membership.imr_multiaddr.s_addr = htonl(group);
  membership.imr_address.s_addr = htonl(INADDR_LOOPBACK);
  if (::setsockopt(member, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership) < 0)
    bare::fail("IP_ADD_MEMBERSHIP");
}

int socket_of(std::string_view port, const Settings& wanted) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  const int all = wanted.hears_groups;
  ::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &all, sizeof all);
  if (wanted.room > 0) ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wanted.room, sizeof wanted.room);
  const in_addr loopback{htonl(INADDR_LOOPBACK)};
  if (::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &loopback, sizeof loopback) < 0)
    bare::fail("IP_MULTICAST_IF");
  sockaddr_in place = bare::address_of(port);
  place.sin_addr.s_addr = htonl(INADDR_ANY);  // as the group's datagrams have its address
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) < 0) bare::fail("bind");
  return fd;
}

void serve(int fd, const sockaddr_in& everybody, const Settings& wanted) {
  std::array<char, 1 << 16> bytes;
  for (;;) {
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t count =
        ::recvfrom(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (count < 0) continue;
    for (unsigned i = 0; i < wanted.rounds; ++i) asm volatile("");
    const auto length = static_cast<std::size_t>(count);
    if (wanted.sends_to_group)
      ::sendto(fd, bytes.data(), length, 0, reinterpret_cast<const sockaddr*>(&everybody), sizeof everybody);
    if (from.sin_port != everybody.sin_port)  // else it is a copy of its own
      ::sendto(fd, bytes.data(), length, 0, reinterpret_cast<const sockaddr*>(&from), size);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("usage: datagram_echo PORT room=BYTES|group=hears|group=deaf\n", stderr), 2;
  const Settings wanted = settings(argc, argv);
  if (wanted.sends_to_group) join_group();
  const int fd = socket_of(argv[1], wanted);
  bare::listening_socket(argv[1], SOCK_NONBLOCK);  // a race waits until a server accepts a connection
  std::puts("ready");
  std::fflush(stdout);
  sockaddr_in everybody = bare::address_of(argv[1]);
  everybody.sin_addr.s_addr = htonl(group);
  serve(fd, everybody, wanted);
}

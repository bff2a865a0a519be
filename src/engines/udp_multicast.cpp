// SPDX-License-Identifier: MIT
// Needs Linux: the engines on UDP wait with epoll, which only Linux has
//
// udp-multicast: datagrams, and what is for all peers is sent once, to a group that they have joined.
//
//     epoll_pwait2 --> recvfrom --> session --> sendto (one peer)
//          ^                           |
//          |                           +---> room --> sendto (the group) --> the kernel copies it to each
//          +---- deadlines <---- publications <---------------------------------------------------------+
//
// Good at: one message for many: the server makes one call, and the kernel clones the packet for each member.
// Bad at: everything that is for one peer, where it is no better than udp-reuseport; and at pace: one call
// fills a thousand receive buffers, and nothing holds the sender back. The parts:
//
//   the server's address   GROUP:PORT. Its socket only receives joins, which are answered from
//   the server's own       ADDRESS:PORT2. A client connects to it, as to any other server. From it,
//   the group's            GROUP:PORT2 gets all that is for all peers. The server is not bound to that
//                          address, so it never receives its own messages. Each client has a second
//                          socket there, and takes only what comes from ADDRESS:PORT2, with the token
//                          that the server has sent it.
//
// A protocol without anything for all (echo) has no group, and is carried between the peers alone. Left out
// on purpose: repeating what a member has missed, and IPv6. udp/loop.hpp keeps the books, udp/multicast.hpp
// has the options of sockets.
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <vector>

#include "base/check.hpp"
#include "engines/udp/loop.hpp"
#include "engines/udp/multicast.hpp"
#include "engines/udp/peer.hpp"

namespace joust {
namespace {

class UdpMulticastLoop : public UdpLoop {
 public:
  UdpMulticastLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  void run();

 private:
  int approach(Peer& peer, const Endpoint& server) override;
  void found(Peer& peer, const Endpoint& server, const DatagramHead& challenge) override;
  Fd socket_of_server(const Listener& listener) const;
  void receive(UdpSocket& socket);
  void send(UdpSocket& socket);

  const MulticastInterface interface_;
  UdpSocket* server_ = nullptr;  // reaches a server's peers and its group
  Endpoint group_;               // the address to which a server sends what is for all peers
  std::vector<std::byte> buffer_;
  UdpBatch batch_{8};  // its datagrams are sent one by one
};

UdpMulticastLoop::UdpMulticastLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : UdpLoop(hosting, stop, group, index),
      interface_(required_interface(hosting.options.knobs)),
      buffer_(kUdpBuffer) {
  if (!hosting.serves()) return;
  const Listener& joins = *hosting.listeners.front();  // one exists: checked_listen()
  join_group(joins.endpoint(), interface_, joins.fd());
  server_ = &add_server_socket(group.keep(socket_of_server(joins)));
  group_ = with_port(joins.endpoint(), port_of(bound_address(server_->fd)));
}

// Makes a socket with another port than that of the joins, whose socket would receive what is sent to the
// group.
Fd UdpMulticastLoop::socket_of_server(const Listener& listener) const {
  Fd socket = listener.beside(interface_.address), same_port;
  if (port_of(bound_address(socket.get())) == port_of(listener.endpoint())) {
    same_port = std::move(socket);
    socket = listener.beside(interface_.address);
  }
  send_on(interface_, socket.get());
  return socket;
}

void UdpMulticastLoop::run() {
  if (server_ != nullptr) open_group(*server_, group_);
  while (!over()) {
    for (UdpSocket* const socket : wait()) receive(*socket);
    finish_turn();
    while (UdpSocket* const socket = next_talker()) send(*socket);
    sweep();
  }
}

// Each datagram is answered before the next one is read. A server answers all of them from its own address.
void UdpMulticastLoop::receive(UdpSocket& socket) {
  UdpSocket& through = socket.only == nullptr ? *server_ : socket;
  for (std::size_t left = quota(socket); left > 0; --left) {
    Endpoint from;
    const ssize_t n = receive_datagram(socket.fd, buffer_, from);
    if (n < 0) return receive_failed(socket, errno);
    const Bytes bytes = Bytes(buffer_).first(static_cast<std::size_t>(n));
    if (socket.only != nullptr && &socket == socket.only->group.get())
      received_by_group(socket, bytes, from);
    else
      received(through, bytes, from);
    if (may_send(through)) send(through);
  }
}

void UdpMulticastLoop::send(UdpSocket& socket) {
  const std::size_t count = fill(socket, batch_);
  for (std::size_t i = 0; i < count; ++i)
    if (send_datagram(socket.fd, batch_.datagram(i), batch_.to(i)) < 0) return sent(socket, batch_, i, errno);
  sent(socket, batch_, count);
}

// Prepares a client's socket. A socket that is connected to a group would receive nothing, so the first join
// is sent by an unconnected one.
int UdpMulticastLoop::approach(Peer& peer, const Endpoint& server) {
  const int socket = peer.socket.get();
  const Endpoint& own = interface_.address;
  checked(::bind(socket, own.raw(), own.size), "bind({})", to_text(own));
  send_on(interface_, socket);
  peer.address = server;
  return 0;
}

// Makes the client a member before it asks again. So nothing is lost that is sent once it has been let in.
void UdpMulticastLoop::found(Peer& peer, const Endpoint& server, const DatagramHead& challenge) {
  checked(::connect(peer.socket.get(), server.raw(), server.size), "connect({})", to_text(server));
  peer.connected = true;
  const Endpoint group = with_port(peer.address, port_of(server));
  peer.address = server;
  if (!challenge.group) return;
  Fd socket = hosting().target->make_socket(peer.dial.endpoint, SOCK_NONBLOCK);
  const int on = 1;
  checked(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "setsockopt(SO_REUSEADDR)");
  checked(::bind(socket.get(), group.raw(), group.size), "bind({})", to_text(group));
  join_group(group, interface_, socket.get());
  hear_group(peer, std::move(socket));
}

constexpr std::array<std::string_view, 1> kInterfaces{"lo"};
constexpr std::array kKnobs{kPackKnob, Knob{.name = "interface",
                                            .choices = kInterfaces,
                                            .summary = "the network interface that carries the group",
                                            .any_text = true}};

}  // namespace

extern const Engine kUdpMulticast{
    .name = "udp-multicast",
    .summary = "UDP: what is for all is sent once, to a group that all have joined",
    .delivery = kUdpDelivery,
    .transport = Transport::datagram,
    .group = kStandardGroup,
    .way_of_group = way_of_group,
    .files_each = 2,  // its own socket and the group's
    .does_chores = true,
    .threads = "one",
    .knobs = kKnobs,
    .unavailable = no_multicast,
    .run = run_udp<UdpMulticastLoop>,
};

}  // namespace joust

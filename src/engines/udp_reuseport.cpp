// SPDX-License-Identifier: MIT
// Needs Linux: the engines on UDP wait with epoll, which only Linux has
//
// udp-reuseport: datagrams, one system call for each. Several threads (-t) have a socket each, all on one
// port; the kernel chooses the socket by the addresses of a datagram (SO_REUSEPORT).
//
//     epoll_pwait2 --> recvfrom --> session --> sendto --> recvfrom ... until the socket is empty
//          ^                                                  |
//          +---- deadlines <---- publications <---------------+
//
// Good at: many peers on one descriptor, because the kernel keeps nothing for each of them; and several
// threads without a lock, because all datagrams of a peer come to one of them. Bad at: everything that a
// stream does unasked. What is lost stays lost and is only counted; no peer can be held back, so what comes
// faster than it is read is lost too; and a small message costs two system calls, however many wait. A hash
// spreads few peers unevenly. Left out on purpose: a thread that blocks in recvfrom, because it could keep no
// deadline. udp/loop.hpp keeps the books, for the other engines on UDP too.
#include <cerrno>
#include <vector>

#include "engines/udp/loop.hpp"
#include "engines/udp/peer.hpp"

namespace joust {
namespace {

class UdpReuseportLoop : public UdpLoop {
 public:
  UdpReuseportLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
      : UdpLoop(hosting, stop, group, index), buffer_(kUdpBuffer) {}
  void run();

 private:
  void receive(UdpSocket& socket);
  void send(UdpSocket& socket);

  std::vector<std::byte> buffer_;
  UdpBatch batch_{8};  // its datagrams are sent one by one
};

void UdpReuseportLoop::run() {
  while (!over()) {
    for (UdpSocket* const socket : wait()) receive(*socket);
    finish_turn();
    while (UdpSocket* const socket = next_talker()) send(*socket);
    sweep();
  }
}

// Each datagram is answered before the next one is read.
void UdpReuseportLoop::receive(UdpSocket& socket) {
  for (std::size_t left = quota(socket); left > 0; --left) {
    Endpoint from;
    const ssize_t n = receive_datagram(socket.fd, buffer_, from);
    if (n < 0) return receive_failed(socket, errno);
    received(socket, Bytes(buffer_).first(static_cast<std::size_t>(n)), from);
    if (may_send(socket)) send(socket);
  }
}

void UdpReuseportLoop::send(UdpSocket& socket) {
  const std::size_t count = fill(socket, batch_);
  for (std::size_t i = 0; i < count; ++i)
    if (send_datagram(socket.fd, batch_.datagram(i), batch_.to(i)) < 0) return sent(socket, batch_, i, errno);
  sent(socket, batch_, count);
}

}  // namespace

extern const Engine kUdpReuseport{
    .name = "udp-reuseport",
    .summary = "UDP: a system call for each datagram, a socket for each thread on one port",
    .delivery = kUdpDelivery,
    .transport = Transport::datagram,
    .several_loops = true,
    .does_chores = true,
    .threads = "one per socket (-t)",
    .knobs = kUdpKnobs,
    .decided = decided_udp_knob,
    .run = run_udp<UdpReuseportLoop>,
};

}  // namespace joust

// SPDX-License-Identifier: MIT
//
// udp-reuseport: datagrams, one system call for each. Several threads (-t) have a socket each, all on one
// port; the kernel chooses the socket by the addresses of a datagram (SO_REUSEPORT).
//
//     epoll_pwait2 --> recvfrom --> session --> sendto --> recvfrom ... until the socket is empty
//          ^                                                  |
//          +---- deadlines <---- publications <---------------+
//
// Good at: many peers on one descriptor, because nothing is kept in the kernel for each; and at several
// threads without a lock, because all datagrams of a peer come to one of them. Bad at: everything that a
// stream does unasked. What is lost stays lost and is only counted; no peer can be held back, so what comes
// faster than it is read is lost too; and a small message costs two system calls, however many wait. A hash
// spreads few peers unevenly. Left out on purpose: a thread that blocks in recvfrom, which could keep no
// deadline.
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <vector>

#include "engines/loop/ready_io.hpp"
#include "engines/udp/loop.hpp"

namespace joust {
namespace {

// A long message stays where it is, and is sent together with its header.
ssize_t send_one(int fd, const DatagramOut& datagram, const Endpoint* to) {
  const sockaddr* const address = to == nullptr ? nullptr : to->raw();
  const socklen_t size = to == nullptr ? 0 : to->size;
  if (datagram.tail.empty())
    return ::sendto(fd, datagram.head.data(), datagram.head_size, MSG_DONTWAIT | MSG_NOSIGNAL, address, size);
  std::array<iovec, 2> pieces = pieces_of(datagram);
  msghdr message = message_of(pieces);
  message.msg_name = const_cast<sockaddr*>(address);
  message.msg_namelen = size;
  return ::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

class UdpReuseportLoop : public UdpLoop {
 public:
  UdpReuseportLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
      : UdpLoop(hosting, stop, group, index), buffer_(kUdpBuffer) {}
  void run();

 private:
  void receive(UdpSocket& socket);
  void send(UdpSocket& socket);

  std::vector<std::byte> buffer_;
  UdpBatch batch_{8};
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
    from.size = sizeof from.storage;
    auto* const address = reinterpret_cast<sockaddr*>(&from.storage);
    const ssize_t n =
        ::recvfrom(socket.fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT, address, &from.size);
    if (n < 0) return receive_failed(socket, errno);
    received(socket, Bytes(buffer_).first(static_cast<std::size_t>(n)), from);
    if (socket.writable && socket.has_talkers()) send(socket);
  }
}

void UdpReuseportLoop::send(UdpSocket& socket) {
  const std::size_t count = fill(socket, batch_);
  for (std::size_t i = 0; i < count; ++i)
    if (send_one(socket.fd, batch_.datagram(i), batch_.to(i)) < 0) return sent(socket, batch_, i, errno);
  sent(socket, batch_, count);
}

}  // namespace

extern const Engine kUdpReuseport{
    .name = "udp-reuseport",
    .summary = "UDP: a system call for each datagram, a socket for each thread on one port",
    .delivery = kUdpDelivery,
    .transport = Transport::datagram,
    .several_loops = true,
    .threads = "one per socket (-t)",
    .run = run_loops<UdpReuseportLoop>,
};

}  // namespace joust

// SPDX-License-Identifier: MIT
// Needs Linux: the engines on UDP wait with epoll, which only Linux has
//
// udp-batched: datagrams, many with one system call. One socket and one thread.
//
//     epoll_pwait2 --> recvmmsg --> sessions of all senders --> sendmmsg (up to 64, to any peers) --+
//          ^           (up to 64)                                                                    |
//          +---- deadlines <---- publications <------------------------------------------------------+
//
// Good at: many small messages, which is what UDP is for: a call costs more than a datagram. Datagrams of one
// size to one peer go through the kernel as a single large one (UDP_SEGMENT, "GSO"), and come out of it as
// such (UDP_GRO), where the kernel can. With --pack on, a datagram holds several whole messages of a session,
// as far as a packet of Ethernet holds them: far fewer datagrams, but also a different way of sending, so it
// is a row of its own in results. Bad at: single messages: a batch of one takes a little longer than a plain
// call, and replies wait until all of the batch have been read. As a client, each connection has a socket of
// its own, so a batch is of one connection. Left out on purpose: a socket for each thread, for which see
// udp-reuseport. udp/loop.hpp keeps the books.
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "connection/tally.hpp"
#include "engines/udp/loop.hpp"

namespace joust {
namespace {

constexpr std::size_t kBatch = 64;
// The limits of one message of UDP_SEGMENT: those of the kernel, with some room for headers.
constexpr std::size_t kMostSegments = 64, kMostSegmentBytes = 60'000;
constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int));

// Return whether a datagram was refused because it was to be cut into pieces. A kernel or a device that never
// does that refuses all of them; a way whose packets are smaller than a piece refuses some. Other errors are
// those of a full socket, or of any datagram.
bool is_of_all_segments(int error) {
  return error == EIO || error == EOPNOTSUPP;
}
bool is_of_segments(int error) {
  return is_of_all_segments(error) || error == EINVAL || error == EMSGSIZE;
}

struct UdpBatchedPart : UdpEnginePart {};  // exists once the socket's options are set

class UdpBatchedLoop : public UdpLoop {
 public:
  UdpBatchedLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  void run();

 private:
  void receive(UdpSocket& socket);
  void prepare(UdpSocket& socket);
  std::size_t split(UdpSocket& socket, const msghdr& message, Bytes bytes, const Endpoint& from);
  void send(UdpSocket& socket);
  int send_batch(const UdpSocket& socket, bool segments);
  std::size_t segments_from(std::size_t first) const;
  std::size_t add_message(std::size_t message, std::size_t first, std::size_t last);
  void without_segments(int error);

  // The arguments of one call: a message, its address and its ancillary data each.
  struct Messages {
    std::array<mmsghdr, kBatch> all{};
    std::array<Endpoint, kBatch> from;
    struct alignas(cmsghdr) Control : std::array<std::byte, kControlBytes> {};
    std::array<Control, kBatch> control;
    std::vector<iovec> pieces;
  };

  Bytes buffer(std::size_t message) const { return {buffer_.get() + message * kUdpBuffer, kUdpBuffer}; }

  const std::unique_ptr<std::byte[]> buffer_;  // pages that are not used take no memory
  Messages in_, out_;
  std::array<std::size_t, kBatch> ends_{};  // of each message: the index after its last datagram in the batch
  UdpBatch batch_{kBatch};
  bool segments_ = true;  // neither the kernel nor a device has refused UDP_SEGMENT
};

UdpBatchedLoop::UdpBatchedLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : UdpLoop(hosting, stop, group, index),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kBatch * kUdpBuffer)) {
  in_.pieces.resize(kBatch);
  out_.pieces.resize(2 * kBatch);
  for (std::size_t i = 0; i < kBatch; ++i) in_.pieces[i] = {buffer_.get() + i * kUdpBuffer, kUdpBuffer};
}

void UdpBatchedLoop::run() {
  while (!over()) {
    for (UdpSocket* const socket : wait()) receive(*socket);
    finish_turn();
    while (UdpSocket* const socket = next_talker()) send(*socket);
    sweep();
  }
}

// Receives until the socket is empty, which a call shows that fills less than its batch. Output is sent in
// between where many bytes have come, because a session takes no more while so much of its output waits. It
// is also sent where many strangers are to be answered, because no more answers have room.
void UdpBatchedLoop::receive(UdpSocket& socket) {
  if (!socket.part) prepare(socket);
  std::size_t unanswered = 0;  // bytes
  for (std::size_t heard = 0; heard <= quota(socket);) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      msghdr& message = in_.all[i].msg_hdr;
      message = {};
      message.msg_name = &in_.from[i].storage;
      message.msg_namelen = sizeof in_.from[i].storage;
      message.msg_iov = &in_.pieces[i];
      message.msg_iovlen = 1;
      message.msg_control = in_.control[i].data();
      message.msg_controllen = kControlBytes;
    }
    const int count = ::recvmmsg(socket.fd, in_.all.data(), kBatch, MSG_DONTWAIT, nullptr);
    if (count < 0) return receive_failed(socket, errno);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const mmsghdr& message = in_.all[i];
      in_.from[i].size = message.msg_hdr.msg_namelen;
      heard += split(socket, message.msg_hdr, buffer(i).first(message.msg_len), in_.from[i]);
      unanswered += message.msg_len;
      const bool many_replies = socket.replies.size() >= UdpSocket::kMostReplies / 2;
      if (unanswered < hosting().limits.read_bytes_per_turn && !many_replies) continue;
      while (may_send(socket)) send(socket);
      unanswered = 0;
    }
    if (static_cast<std::size_t>(count) < kBatch) return;
  }
}

// Sets the options of a socket, before its first datagrams are read. A kernel that cannot join datagrams
// passes them on one by one.
void UdpBatchedLoop::prepare(UdpSocket& socket) {
  const int on = 1;
  socket.joins_datagrams = ::setsockopt(socket.fd, SOL_UDP, UDP_GRO, &on, sizeof on) == 0;
  if (!socket.joins_datagrams) hosting().tally.note("without UDP_GRO, which this kernel refuses");
  socket.part = std::make_unique<UdpBatchedPart>();
}

// Passes on one datagram, or several of one sender that the kernel has joined: all of one size but the last,
// which may be shorter. Returns their number.
std::size_t UdpBatchedLoop::split(UdpSocket& socket, const msghdr& message, Bytes bytes,
                                  const Endpoint& from) {
  int size = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(const_cast<msghdr*>(&message), part))
    if (part->cmsg_level == SOL_UDP && part->cmsg_type == UDP_GRO)
      std::memcpy(&size, CMSG_DATA(part), sizeof size);
  const std::size_t each = size > 0 ? static_cast<std::size_t>(size) : bytes.size();
  std::size_t count = 0;
  do {
    const Bytes first = bytes.first(std::min(each, bytes.size()));
    bytes = bytes.subspan(first.size());
    received(socket, first, from);
    ++count;
  } while (!bytes.empty());
  return count;
}

void UdpBatchedLoop::send(UdpSocket& socket) {
  if (fill(socket, batch_) == 0) return;
  int n = send_batch(socket, segments_);
  if (const int error = errno; n < 0 && ends_[0] > 1 && is_of_segments(error)) {
    without_segments(error);
    n = send_batch(socket, false);
  }
  if (n > 0) return sent(socket, batch_, ends_[static_cast<std::size_t>(n) - 1]);
  sent(socket, batch_, 0, errno);
}

// Returns the number of messages that were sent; or -1, and the errno of the first one.
int UdpBatchedLoop::send_batch(const UdpSocket& socket, bool segments) {
  std::size_t messages = 0;
  for (std::size_t first = 0; first < batch_.size(); ++messages)
    first = ends_[messages] = add_message(messages, first, segments ? segments_from(first) : first + 1);
  return ::sendmmsg(socket.fd, out_.all.data(), static_cast<unsigned>(messages), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Stops cutting large datagrams into pieces. Where the kernel or the network's device cannot do it, each
// datagram is sent alone from now on. Where one peer's way is the reason, only those of this batch are.
void UdpBatchedLoop::without_segments(int error) {
  segments_ = !is_of_all_segments(error);
  const char* const which = segments_ ? "some datagrams were sent " : "";
  const std::string why = std::generic_category().message(error);
  hosting().tally.note(which + ("without UDP_SEGMENT, which was refused: " + why));
}

// Returns the end of a row of datagrams that the kernel can take as one.
std::size_t UdpBatchedLoop::segments_from(std::size_t first) const {
  const DatagramOut& begin = batch_.datagram(first);
  std::size_t next = first + 1, bytes = begin.size();
  if (!begin.tail.empty()) return next;
  for (; next < batch_.size() && next - first < kMostSegments; ++next) {
    const DatagramOut& datagram = batch_.datagram(next);
    const bool same_way = batch_.to(next) == batch_.to(first) && datagram.tail.empty();
    if (!same_way || datagram.size() > begin.size() || bytes + datagram.size() > kMostSegmentBytes) break;
    bytes += datagram.size();
    if (datagram.size() < begin.size()) return next + 1;  // a shorter one is the last
  }
  return next;
}

// Prepares a message from these datagrams, and returns their end.
std::size_t UdpBatchedLoop::add_message(std::size_t message, std::size_t first, std::size_t last) {
  msghdr& header = out_.all[message].msg_hdr;
  header = {};
  header.msg_iov = &out_.pieces[2 * first];
  for (std::size_t i = first; i < last; ++i) {
    const auto pieces = pieces_of(batch_.datagram(i));
    header.msg_iov[header.msg_iovlen++] = pieces[0];
    if (pieces[1].iov_len > 0) header.msg_iov[header.msg_iovlen++] = pieces[1];
  }
  if (const Endpoint* const to = batch_.to(first); to != nullptr) {
    header.msg_name = const_cast<sockaddr_storage*>(&to->storage);
    header.msg_namelen = to->size;
  }
  if (last - first > 1) {
    const auto size = static_cast<std::uint16_t>(batch_.datagram(first).size());
    header.msg_control = out_.control[message].data();
    header.msg_controllen = CMSG_SPACE(sizeof size);
    cmsghdr* const part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_UDP;
    part->cmsg_type = UDP_SEGMENT;
    part->cmsg_len = CMSG_LEN(sizeof size);
    std::memcpy(CMSG_DATA(part), &size, sizeof size);
  }
  return last;
}

}  // namespace

extern const Engine kUdpBatched{
    .name = "udp-batched",
    .summary = "UDP: recvmmsg and sendmmsg, many datagrams with one system call",
    .delivery = kUdpDelivery,
    .transport = Transport::datagram,
    .does_chores = true,
    .threads = "one",
    .knobs = kUdpKnobs,
    .decided = decided_udp_knob,
    .run = run_udp<UdpBatchedLoop>,
};

}  // namespace joust

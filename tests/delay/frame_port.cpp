// SPDX-License-Identifier: MIT
#include "delay/frame_port.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/check.hpp"

namespace joust {
namespace {

constexpr int kReceiveBuffer = 64 << 20;  // bytes, for bursts while this process waits for a CPU
constexpr int kSendBuffer = 8 << 20;
// Between the stamp of a frame and its reading the wall clock may be set. A frame is never older than this.
constexpr Duration kOldest = std::chrono::seconds(1);

void set(int socket, int level, int option, int value, const char* name) {
  checked(::setsockopt(socket, level, option, &value, sizeof value), "setsockopt({}, {})", name, value);
}

Duration wall_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// Returns when the kernel stamped the message, on the monotonic clock. The stamps are of the wall clock.
Time stamp_of(msghdr& message) {
  const Time now = Clock::now();
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp{};
    std::memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
    const Duration age =
        wall_clock() - std::chrono::seconds(stamp.tv_sec) - std::chrono::nanoseconds(stamp.tv_nsec);
    return now - std::clamp(age, Duration{}, kOldest);
  }
  return now;
}

}  // namespace

// The protocol is given to bind() alone: a socket that has it from the start receives from every interface
// until then.
FramePort::FramePort(const std::string& interface)
    : interface_(interface), socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  checked(socket_.get(), "socket(AF_PACKET)");
  sockaddr_ll place{};
  place.sll_family = AF_PACKET;
  place.sll_protocol = htons(ETH_P_ALL);
  place.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  checked(place.sll_ifindex == 0 ? -1 : 0, "if_nametoindex({})", interface);
  const int socket = socket_.get();
  set(socket, SOL_PACKET, PACKET_VNET_HDR, 1, "PACKET_VNET_HDR");
  set(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
  set(socket, SOL_SOCKET, SO_TIMESTAMPNS, 1, "SO_TIMESTAMPNS");
  set(socket, SOL_SOCKET, SO_RCVBUFFORCE, kReceiveBuffer, "SO_RCVBUFFORCE");
  set(socket, SOL_SOCKET, SO_SNDBUFFORCE, kSendBuffer, "SO_SNDBUFFORCE");
  checked(::bind(socket, reinterpret_cast<const sockaddr*>(&place), sizeof place), "bind({})", interface);
}

// The kernel drops a frame that it cannot describe by the header, such as a batch of datagrams (UDP_SEGMENT)
// of an older kernel: EINVAL.
FramePort::Arrival FramePort::receive(std::span<std::byte> room) {
  for (;;) {
    iovec all{.iov_base = room.data(), .iov_len = room.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(timespec))];
    msghdr message{};
    message.msg_iov = &all;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t got = retry_interrupted([&] { return ::recvmsg(socket_.get(), &message, 0); });
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (got < 0 && errno != EINVAL) checked(got, "recvmsg({})", interface_);
    if (got > static_cast<ssize_t>(kHeader) && (message.msg_flags & MSG_TRUNC) == 0)
      return {.bytes = static_cast<std::size_t>(got), .at = stamp_of(message)};
    ++unreadable_;
  }
}

bool FramePort::send(std::span<const std::byte> frame) const {
  return retry_interrupted([&] { return ::send(socket_.get(), frame.data(), frame.size(), 0); }) >= 0;
}

// Reading the statistics of the kernel sets them to 0.
std::uint64_t FramePort::take_lost() {
  tpacket_stats counts{};
  socklen_t size = sizeof counts;
  checked(::getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &counts, &size),
          "getsockopt(PACKET_STATISTICS)");
  return std::exchange(unreadable_, 0) + counts.tp_drops;
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#include "conformance/wire.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/system/sockets.hpp"
#include "conformance/group_sockets.hpp"
#include "conformance/peer.hpp"
#include "conformance/zmtp.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust::conformance {
namespace {

std::atomic<Transport> spoken{Transport::datagram};

class UdpWire : public Wire {
 public:
  explicit UdpWire(const Endpoint& server)
      : socket_(is_group(server) ? group_sender() : Fd(datagram_socket(server.family(), 0))) {
    checked(socket_.get(), "socket()");
    if (is_group(server))
      group_ = server;
    else
      checked(::connect(socket_.get(), server.raw(), server.size), "connect()");
    own_ = name_of(socket_.get());
  }
  explicit UdpWire(const Engine& client) : socket_(group_sender()) {
    if (!client.group.empty()) joins_ = group_member(endpoint_of(client.group));
    own_ = name_of(joins_.is_open() ? joins_.get() : socket_.get());
  }

  const Endpoint& own() const override { return own_; }
  Endpoint answers_from() const override { return name_of(socket_.get()); }
  void close() override {
    socket_.close();
    joins_.close();
  }

  // By sendmsg() and recvmsg(), because tests have the calls fail that engines make.
  void send(Bytes bytes, const Endpoint* to) override {
    if (to == nullptr && group_.size > 0) to = &group_;
    iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr message = message_of({&piece, 1});
    if (to != nullptr) {
      message.msg_name = const_cast<sockaddr_storage*>(&to->storage);
      message.msg_namelen = to->size;
    }
    checked(::sendmsg(socket_.get(), &message, 0), "sendmsg()");
  }

  std::optional<Message> next(Duration within) override {
    const int readable = readable_within(within);
    if (readable < 0) return std::nullopt;
    Message heard{.bytes = std::vector<std::byte>(1 << 16), .from = {}};
    iovec piece{heard.bytes.data(), heard.bytes.size()};
    msghdr message = message_of({&piece, 1});
    message.msg_name = &heard.from.storage;
    message.msg_namelen = sizeof heard.from.storage;
    heard.bytes.resize(static_cast<std::size_t>(checked(::recvmsg(readable, &message, 0), "recvmsg()")));
    heard.from.size = message.msg_namelen;
    if (group_.size > 0) {  // the first answer says who serves the group
      checked(::connect(socket_.get(), heard.from.raw(), heard.from.size), "connect()");
      group_ = {};
    }
    return heard;
  }

 private:
  int readable_within(Duration time) const {
    std::array<pollfd, 2> inputs{
        {{.fd = socket_.get(), .events = POLLIN, .revents = 0},
         {.fd = joins_.get(), .events = POLLIN, .revents = 0}}};  // poll() passes -1 over
    const auto most_ms = std::chrono::ceil<std::chrono::milliseconds>(time).count();
    checked(::poll(inputs.data(), inputs.size(), static_cast<int>(most_ms)), "poll()");
    for (const pollfd& input : inputs)
      if (input.revents != 0) return input.fd;
    return -1;
  }

  Fd socket_;
  Fd joins_;        // a server's in a group
  Endpoint own_;    // where it is asked for
  Endpoint group_;  // a client's, until it is answered
};

}  // namespace

void speak(Transport transport) {
  spoken = transport;
}

std::unique_ptr<Wire> wire_to(const Endpoint& server) {
  if (spoken == Transport::datagram) return std::make_unique<UdpWire>(server);
  return std::make_unique<ZmtpClient>(server);
}

std::unique_ptr<Wire> wire_for(const Engine& client) {
  if (spoken == Transport::datagram) return std::make_unique<UdpWire>(client);
  return std::make_unique<ZmtpServer>();
}

}  // namespace joust::conformance

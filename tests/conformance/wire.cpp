// SPDX-License-Identifier: MIT
#include "conformance/wire.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <atomic>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/system/sockets.hpp"
#include "conformance/peer.hpp"
#include "conformance/zmtp.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust::conformance {
namespace {

std::atomic<Transport> spoken{Transport::datagram};

class UdpWire : public Wire {
 public:
  explicit UdpWire(const Endpoint& server) : socket_(datagram_socket(server.family(), 0)) {
    checked(socket_.get(), "socket()");
    checked(::connect(socket_.get(), server.raw(), server.size), "connect()");
    own_ = name_of(socket_.get());
  }
  UdpWire() : socket_(datagram_socket(AF_INET, 0)) {
    const Endpoint any = endpoint_of("127.0.0.1:0");
    checked(::bind(socket_.get(), any.raw(), any.size), "bind()");
    own_ = name_of(socket_.get());
  }

  const Endpoint& own() const override { return own_; }
  void close() override { socket_.close(); }

  // By sendmsg() and recvmsg(), because tests have the calls fail that engines make.
  void send(Bytes bytes, const Endpoint* to) override {
    iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr message = message_of({&piece, 1});
    if (to != nullptr) {
      message.msg_name = const_cast<sockaddr_storage*>(&to->storage);
      message.msg_namelen = to->size;
    }
    checked(::sendmsg(socket_.get(), &message, 0), "sendmsg()");
  }

  std::optional<Message> next(Duration within) override {
    pollfd input{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    const auto most_ms = std::chrono::ceil<std::chrono::milliseconds>(within).count();
    if (checked(::poll(&input, 1, static_cast<int>(most_ms)), "poll()") == 0) return std::nullopt;
    Message heard{.bytes = std::vector<std::byte>(1 << 16), .from = {}};
    iovec piece{heard.bytes.data(), heard.bytes.size()};
    msghdr message = message_of({&piece, 1});
    message.msg_name = &heard.from.storage;
    message.msg_namelen = sizeof heard.from.storage;
    heard.bytes.resize(static_cast<std::size_t>(checked(::recvmsg(socket_.get(), &message, 0), "recvmsg()")));
    heard.from.size = message.msg_namelen;
    return heard;
  }

 private:
  Fd socket_;
  Endpoint own_;
};

}  // namespace

void speak(Transport transport) {
  spoken = transport;
}

std::unique_ptr<Wire> wire_to(const Endpoint& server) {
  if (spoken == Transport::datagram) return std::make_unique<UdpWire>(server);
  return std::make_unique<ZmtpClient>(server);
}

std::unique_ptr<Wire> wire_at_loopback() {
  if (spoken == Transport::datagram) return std::make_unique<UdpWire>();
  return std::make_unique<ZmtpServer>();
}

}  // namespace joust::conformance

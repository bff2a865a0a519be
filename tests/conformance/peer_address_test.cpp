// SPDX-License-Identifier: MIT
//
// Every engine passes a peer's address to the service.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <array>
#include <atomic>
#include <set>

#include "base/check.hpp"
#include "base/memory.hpp"
#include "conformance/running.hpp"
#include "conformance/services.hpp"

namespace joust::conformance {
namespace {

class PeerAddressOn : public EngineTest {};
JOUST_EVERY_ENGINE_AS_IT_COMES(PeerAddressOn, Role::serve);

// Echoes, and records the addresses of its peers.
class NotingService : public EchoService {
 public:
  std::unique_ptr<Session> open(const ConnectionInfo& info) override {
    noted_->addresses.at(noted_->peers++) = info.peer;
    return EchoService::open(info);
  }
  std::set<PeerAddress> addresses() {
    return {noted_->addresses.begin(), noted_->addresses.begin() + noted_->peers};
  }

 private:
  struct Noted {
    std::atomic<unsigned> peers{0};
    std::array<PeerAddress, 8> addresses{};
  };
  SharedMemory<Noted> noted_{};
};

// A connection from `local`, an address of the loopback network.
Peer connect_from(const char* local, const Endpoint& to) {
  Fd socket(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, local, &address.sin_addr);
  checked(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind({})",
          local);
  checked(::connect(socket.get(), to.raw(), to.size), "connect()");
  return Peer(std::move(socket));
}

TEST_P(PeerAddressOn, IsToldToTheService) {
  NotingService service;
  Server server(GetParam(), service);
  for (const char* local : {"127.0.0.1", "127.0.0.2", "127.0.0.2"}) {
    Peer peer = connect_from(local, server.endpoint());
    peer.send("x");
    EXPECT_EQ(peer.receive(1), "x");
  }
  const std::set expected{peer_address(endpoint_of("127.0.0.1:1")), peer_address(endpoint_of("127.0.0.2:1"))};
  EXPECT_EQ(service.addresses(), expected);
}

TEST_P(PeerAddressOn, IsUnknownOnUnixSockets) {
  NotingService service;
  Server server(GetParam(), service, {.address = unix_address()});
  Peer peer(server.endpoint());
  peer.send("x");
  EXPECT_EQ(peer.receive(1), "x");
  EXPECT_EQ(service.addresses(), std::set{PeerAddress::unknown});
}

}  // namespace
}  // namespace joust::conformance

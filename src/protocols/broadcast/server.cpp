// SPDX-License-Identifier: MIT
//
// The server side of broadcast: one room, and a session for each connection.
#include "protocols/broadcast/protocol.hpp"
#include "protocols/broadcast/server_session.hpp"

namespace joust::broadcast {
namespace {

class BroadcastServer : public Service {
 public:
  explicit BroadcastServer(const RoomRules& rules) : room_(rules) {}

  std::unique_ptr<Session> open(const Opening& /*opening*/) override {
    return std::make_unique<ServerSession>(room_);
  }
  Publications* publications() override { return &room_.publications(); }
  std::vector<ResultGroup> results() const override { return {room_.results()}; }

 private:
  Room room_;
};

}  // namespace

std::unique_ptr<Service> make_server(const Parameters& parameters) {
  return std::make_unique<BroadcastServer>(room_rules(parameters));
}

}  // namespace joust::broadcast

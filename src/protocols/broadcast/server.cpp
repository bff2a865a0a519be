// SPDX-License-Identifier: MIT
//
// The server side of broadcast: one room, a session for each connection, and one for a group of all.
#include "protocols/broadcast/protocol.hpp"
#include "protocols/broadcast/server_session.hpp"
#include "session/message_wise.hpp"

namespace joust::broadcast {
namespace {

// Sends the room's log from now on, once for all members.
class GroupSession : public Session {
 public:
  explicit GroupSession(Room& room) : room_(room), reader_(room.log()) { room_.set_group(true); }
  ~GroupSession() override { room_.set_group(false); }
  GroupSession(const GroupSession&) = delete;
  GroupSession& operator=(const GroupSession&) = delete;

  std::size_t on_bytes(Bytes chunk, Time /*now*/) override { return chunk.size(); }
  void on_drain(Time /*now*/) override {
    reader_.stop_here();
    draining_ = true;
  }

  std::size_t output(std::span<Segment> into) const override { return reader_.segments(into); }
  Want want() const override { return Want::nothing; }
  bool finished() const override { return draining_; }
  bool gives_up() const override { return reader_.given_up(); }
  void consumed(std::size_t n) override { reader_.consumed(n); }
  void released(std::size_t n) override { reader_.released(n); }

 private:
  Room& room_;
  RoomLog::Reader reader_;
  bool draining_ = false;
};

std::unique_ptr<Session> carried_by(const Delivery& delivery, std::unique_ptr<Session> session) {
  return delivery.by_message() ? message_wise(std::move(session), delivery.largest_message)
                               : std::move(session);
}

class BroadcastServer : public Service {
 public:
  explicit BroadcastServer(const RoomRules& rules) : room_(rules) {}

  std::unique_ptr<Session> open(const ConnectionInfo& info) override {
    const Delivery& delivery = info.delivery;
    return carried_by(delivery, std::make_unique<ServerSession>(room_, delivery.lossy));
  }
  std::unique_ptr<Session> open_group(const Delivery& delivery) override {
    return carried_by(delivery, std::make_unique<GroupSession>(room_));
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

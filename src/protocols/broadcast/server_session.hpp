// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "joust/framing.hpp"
#include "joust/session.hpp"
#include "protocols/broadcast/member_output.hpp"
#include "protocols/broadcast/publisher.hpp"
#include "protocols/broadcast/room.hpp"
#include "protocols/broadcast/wire.hpp"
#include "protocols/websocket/server_side.hpp"
#include "session/least_rate.hpp"

namespace joust::broadcast {

// A connection to the room; a member once it has joined. Its messages are appended to the room's log, and its
// output is read from the log at its own pace.
class ServerSession : public Session {
 public:
  // `lossy`: a member may ask again to be let in, because the answer may have been lost.
  ServerSession(Room& room, bool lossy)
      : room_(room),
        lossy_(lossy),
        deframer_(framing_of(room.rules().carriage, Role::dial)),
        output_(room.rules(), deframer_.framing()),
        publisher_(room.log(), room.rules().member_rate),
        incoming_rate_(room.rules().rates.incoming),
        outgoing_rate_(room.rules().rates.outgoing) {
    if (room.rules().carriage == Carriage::websocket) websocket_.emplace();
  }
  ~ServerSession() override {
    if (seat_) room_.leave(member_, *seat_);
  }
  ServerSession(const ServerSession&) = delete;
  ServerSession& operator=(const ServerSession&) = delete;

  void on_open(Time now) override;
  std::size_t on_bytes(Bytes chunk, Time now) override;
  void on_published(Time now) override;
  void on_deadline(Time now) override;
  void on_peer_finished(Time /*now*/) override { leave(); }
  void on_drain(Time /*now*/) override {
    output_.stop();
    if (websocket_ && !finished()) output_.say([&](Writer& last) { websocket_->go_away(last); });
    leave();
  }

  std::size_t output(std::span<Segment> into) const override { return output_.segments(into); }
  Want want() const override {
    return finished() || publisher_.held_back() || output_.says_much() ? Want::nothing : Want::bytes;
  }
  bool finished() const override { return broken_ || leaving_; }
  std::optional<Time> deadline() const override;
  std::string_view complaint() const override { return complaint_; }
  std::uint64_t memory() const override { return output_.memory() + deframer_.memory(); }
  bool gives_up() const override { return gives_up_ || output_.given_up(); }
  void consumed(std::size_t n) override {
    output_.consumed(n);
    outgoing_rate_.moved(n);
  }
  void released(std::size_t n) override {
    output_.released(n);
    if (output_.empty()) outgoing_rate_.reset();
  }

 private:
  void hear(const Deframer::Step& step, Bytes message, Time now);
  void hear_websocket(const Deframer::Step& step, Time now);
  bool on_frame(const Frame& frame, Bytes framed, Time now);
  bool join(std::uint32_t member, Time now);
  void answer(Kind kind);
  void leave();
  void end(std::string complaint, std::uint16_t code = websocket::kPolicyViolation);
  void watch_rates(Time now);

  Room& room_;
  const bool lossy_;
  Deframer deframer_;
  MemberOutput output_;  // follows the log once it has joined, unless the log is sent to a group
  std::optional<websocket::ServerSide> websocket_;  // with the carriage of that name
  std::shared_ptr<Seat> seat_;                      // once it has joined
  std::uint32_t member_ = 0;
  std::uint64_t messages_ = 0;
  Publisher publisher_;
  std::optional<Time> join_by_;
  LeastRate incoming_rate_;  // the rate of an incomplete frame
  LeastRate outgoing_rate_;  // the rate of unread output
  std::string complaint_;
  bool broken_ = false;
  bool gives_up_ = false;
  bool leaving_ = false;
};

}  // namespace joust::broadcast

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "joust/framing.hpp"
#include "joust/outbox.hpp"
#include "joust/session.hpp"
#include "protocols/broadcast/publisher.hpp"
#include "protocols/broadcast/room.hpp"
#include "protocols/broadcast/wire.hpp"
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
        publisher_(room.log(), room.rules().member_rate),
        incoming_rate_(room.rules().rates.incoming),
        outgoing_rate_(room.rules().rates.outgoing) {}
  ~ServerSession() override {
    if (joined_) room_.leave(member_);
  }
  ServerSession(const ServerSession&) = delete;
  ServerSession& operator=(const ServerSession&) = delete;

  void on_open(Time now) override;
  std::size_t on_bytes(Bytes chunk, Time now) override;
  void on_published(Time now) override { watch_rates(now); }
  void on_deadline(Time now) override;
  void on_peer_finished(Time /*now*/) override { leave(); }
  void on_drain(Time /*now*/) override { leave(); }

  std::size_t output(std::span<Segment> into) const override;
  Want want() const override { return finished() || publisher_.held_back() ? Want::nothing : Want::bytes; }
  bool finished() const override { return broken_ || leaving_; }
  std::optional<Time> deadline() const override;
  std::string_view complaint() const override { return complaint_; }
  std::uint64_t memory() const override { return outbox_.size() + deframer_.memory(); }
  bool gives_up() const override { return gives_up_ || (reader_ && reader_->given_up()); }
  void consumed(std::size_t n) override;
  void released(std::size_t n) override;

 private:
  std::size_t first_frame() const;
  bool on_frame(const Frame& frame, Bytes framed, Time now);
  bool join(std::uint32_t member);
  void answer(Kind kind);
  void leave();
  void end(std::string complaint);
  bool has_unread() const { return !outbox_.empty() || (reader_ && !reader_->caught_up()); }
  void watch_rates(Time now);

  Room& room_;
  const bool lossy_;
  Deframer deframer_{kFraming};
  Outbox outbox_;               // for this member alone; sent before the log
  std::size_t unreleased_ = 0;  // consumed bytes of the outbox
  bool joined_ = false;
  std::optional<RoomLog::Reader> reader_;  // set once it has joined, unless the log is sent to a group
  std::size_t frame_left_ = 0;             // unsent bytes of the current frame, if each is sent alone
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

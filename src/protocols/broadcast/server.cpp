// SPDX-License-Identifier: MIT
//
// The server side of broadcast: one room, a session for each connection, and one for a group of all.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "joust/framing.hpp"
#include "joust/session.hpp"
#include "joust/time.hpp"
#include "protocols/broadcast/protocol.hpp"
#include "protocols/broadcast/room.hpp"
#include "protocols/broadcast/room_log.hpp"
#include "protocols/websocket/server.hpp"
#include "session/handler_session.hpp"
#include "session/message_wise.hpp"

namespace joust::broadcast {
namespace {

// Limits a member that publishes too fast: to the member rate, and to its share while other members are far
// behind. A member over the limit is not read from; nothing is lost.
class Publisher {
 public:
  // `rate`: bytes per second; 0: limited by the readers only.
  Publisher(RoomLog& log, std::uint64_t rate) : log_(log), rate_(rate) {}

  void published(std::uint64_t bytes, Time now);
  bool held_back() const { return held_until_.has_value(); }
  std::optional<Time> deadline() const { return held_until_; }
  void on_deadline(Time now);

 private:
  void pay(std::uint64_t bytes, Time now);
  void use_share(std::uint64_t bytes);
  bool has_used_share() const;

  RoomLog& log_;
  const std::uint64_t rate_;
  Time paid_until_{};               // set by the rate algorithm
  std::uint64_t used_ = 0;          // bytes used of the share
  std::uint64_t crowded_time_ = 0;  // how often the log had been crowded when used_ began to count
  std::optional<Time> held_until_;
};

constexpr Duration kBurst = std::chrono::seconds(1);  // at the rate: the most to publish at once
constexpr Duration kLookAgain = std::chrono::milliseconds(10);

void Publisher::published(std::uint64_t bytes, Time now) {
  if (rate_ > 0) pay(bytes, now);
  if (!log_.crowded()) return;
  use_share(bytes);
  if (has_used_share()) held_until_ = std::max(held_until_.value_or(now), now + kLookAgain);
}

// The generic cell rate algorithm (ITU-T I.371): each byte advances a time by its duration at the rate.
void Publisher::pay(std::uint64_t bytes, Time now) {
  const std::chrono::duration<double> cost(static_cast<double>(bytes) / static_cast<double>(rate_));
  paid_until_ = std::max(paid_until_, now) + std::chrono::duration_cast<Duration>(cost);
  if (paid_until_ > now + kBurst) held_until_ = paid_until_ - kBurst;
}

// Starts a new share each time the log becomes crowded.
void Publisher::use_share(std::uint64_t bytes) {
  const std::uint64_t time = log_.times_crowded();
  if (time != crowded_time_) used_ = 0;
  crowded_time_ = time;
  used_ += bytes;
}

bool Publisher::has_used_share() const {
  return crowded_time_ == log_.times_crowded() && used_ > log_.share();
}

void Publisher::on_deadline(Time now) {
  if (!held_until_ || now < *held_until_) return;
  held_until_.reset();
  if (!log_.crowded()) return;
  log_.look(now);
  if (log_.crowded() && has_used_share()) held_until_ = now + kLookAgain;
}

// A connection to the room; a member once it has joined. Its messages are appended to the room's log, and its
// output is read from the log at its own pace.
class ServerSession : public Session {
 public:
  // `lossy`: a member may ask again to be let in, because the answer may have been lost.
  ServerSession(Room& room, bool lossy)
      : room_(room),
        lossy_(lossy),
        deframer_(framing_of(room.rules().framing, Role::dial)),
        output_(room.rules(), deframer_.framing()),
        publisher_(room.log(), room.rules().member_rate),
        incoming_rate_(room.rules().rates.incoming),
        outgoing_rate_(room.rules().rates.outgoing) {
    if (room.rules().framing == StreamFraming::websocket) websocket_.emplace();
  }
  ~ServerSession() override {
    if (membership_) room_.leave(member_, *membership_);
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
  std::optional<websocket::ServerSide> websocket_;  // with the framing of that name
  std::shared_ptr<Membership> membership_;          // once it has joined
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

constexpr Duration kJoinWithin = std::chrono::seconds(30);

void ServerSession::on_open(Time now) {
  join_by_ = now + kJoinWithin;
}

std::size_t ServerSession::on_bytes(Bytes chunk, Time now) {
  std::size_t taken = 0;
  const std::uint64_t before = messages_;
  while (taken < chunk.size() && want() == Want::bytes) {
    const Deframer::Step step = deframer_.next(chunk.subspan(taken));
    taken += step.taken;
    if (step.status == Deframer::Status::need_more) break;
    websocket_ ? hear_websocket(step, now) : hear(step, step.message, now);
  }
  if (messages_ != before) {
    membership_->touch(now);
    room_.publications().announce();
  }
  incoming_rate_.moved(taken);
  watch_rates(now);
  return taken;
}

void ServerSession::on_published(Time now) {
  if (membership_ && membership_->is_revoked() && !finished())
    end(fmt::format("another member has taken the number {}, because its own had sent nothing for {}",
                    member_, format_duration(kHeldFor)));
  watch_rates(now);
}

void ServerSession::hear(const Deframer::Step& step, Bytes message, Time now) {
  const auto frame = step.status == Deframer::Status::message ? parse(message) : std::nullopt;
  if (!frame || !on_frame(*frame, step.framed, now)) end("no frame of this protocol");
}

// A message is appended to the log as the cutter hands it on: in one frame that is not masked.
void ServerSession::hear_websocket(const Deframer::Step& step, Time now) {
  const auto message = websocket::Message::read(step.message);
  if (message.ends_connection()) output_.stop();
  auto next = websocket::ServerSide::Step::message;
  output_.say([&](Writer& answer) { next = websocket_->take(message, step.message, answer); });
  if (next == websocket::ServerSide::Step::answered) return;
  if (next == websocket::ServerSide::Step::ended) {
    complaint_ = websocket_->complaint();
    return leave();
  }
  if (message.kind != websocket::Message::Kind::binary)
    return end("a message is text, and those of a room are binary", websocket::kUnsupportedData);
  if (message.payload.size() > kHeadBytes + kLargestPayload)
    return end("a message has more than 64 KiB", websocket::kTooLarge);
  hear(step, message.payload, now);
}

// With WebSocket the last words are the reason.
void ServerSession::end(std::string complaint, std::uint16_t code) {
  output_.stop();
  if (websocket_ && !finished())
    output_.say([&](Writer& last) { websocket_->refuse({code, complaint}, last); });
  if (!broken_) complaint_ = std::move(complaint);
  broken_ = true;
}

void ServerSession::on_deadline(Time now) {
  if (join_by_ && now >= *join_by_ && !finished()) end("no join within " + format_duration(kJoinWithin));
  const bool sends_slowly = incoming_rate_.missed(now);
  const bool reads_slowly = outgoing_rate_.missed(now);
  if (sends_slowly) end("a frame comes " + incoming_rate_.complaint());
  if (reads_slowly) end("the room is read " + outgoing_rate_.complaint());
  if (sends_slowly || reads_slowly) room_.count_slow_peer();
  gives_up_ = gives_up_ || reads_slowly;
  publisher_.on_deadline(now);
  watch_rates(now);
}

void ServerSession::watch_rates(Time now) {
  incoming_rate_.expect(deframer_.in_message() && !finished(), want() == Want::bytes, now);
  outgoing_rate_.expect(!output_.empty(), true, now);
}

std::optional<Time> ServerSession::deadline() const {
  const auto slow = earlier(incoming_rate_.deadline(), outgoing_rate_.deadline());
  return finished() ? slow : earlier(slow, earlier(join_by_, publisher_.deadline()));
}

// Returns false if the peer broke the protocol.
bool ServerSession::on_frame(const Frame& frame, Bytes framed, Time now) {
  if (frame.kind == Kind::join && !membership_) return join(frame.member, now);
  if (!membership_ || membership_->is_revoked() || frame.member != member_) return false;
  if (frame.kind == Kind::join && lossy_) {
    // Sends one answer for all join frames so far: a flood of them makes no queue.
    if (!output_.says()) answer(Kind::welcome);
    return true;
  }
  if (frame.kind != Kind::message) return false;
  room_.append(framed, now);
  publisher_.published(framed.size(), now);
  ++messages_;
  return true;
}

bool ServerSession::join(std::uint32_t member, Time now) {
  membership_ = room_.join(member, now);
  join_by_.reset();
  member_ = member;
  answer(membership_ ? Kind::welcome : Kind::refused);
  if (membership_ && !room_.has_group()) output_.follow(room_.log());
  if (!membership_) end(fmt::format("the member number {} is taken or too large", member));
  return membership_ != nullptr;
}

void ServerSession::answer(Kind kind) {
  output_.say([&](Writer& reply) {
    write({.kind = kind, .member = member_, .payload = {}}, room_.rules().framing, reply);
  });
}

void ServerSession::leave() {
  leaving_ = true;
  output_.stop();
}

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

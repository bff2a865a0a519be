// SPDX-License-Identifier: MIT
#include "protocols/broadcast/server_session.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/units.hpp"
#include "base/words.hpp"

namespace joust::broadcast {
namespace {

constexpr Duration kJoinWithin = std::chrono::seconds(30);

}  // namespace

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
    seat_->speak(now);
    room_.publications().announce();
  }
  incoming_rate_.moved(taken);
  watch_rates(now);
  return taken;
}

void ServerSession::on_published(Time now) {
  if (seat_ && seat_->is_lost() && !finished())
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
  if (frame.kind == Kind::join && !seat_) return join(frame.member, now);
  if (!seat_ || seat_->is_lost() || frame.member != member_) return false;
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
  seat_ = room_.join(member, now);
  join_by_.reset();
  member_ = member;
  answer(seat_ ? Kind::welcome : Kind::refused);
  if (seat_ && !room_.has_group()) output_.follow(room_.log());
  if (!seat_) end(fmt::format("the member number {} is taken or too large", member));
  return seat_ != nullptr;
}

void ServerSession::answer(Kind kind) {
  output_.say([&](Writer& reply) {
    write({.kind = kind, .member = member_, .payload = {}}, room_.rules().carriage, reply);
  });
}

void ServerSession::leave() {
  leaving_ = true;
  output_.stop();
}

}  // namespace joust::broadcast

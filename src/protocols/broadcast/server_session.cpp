// SPDX-License-Identifier: MIT
#include "protocols/broadcast/server_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/endian.hpp"
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
    const auto frame = step.status == Deframer::Status::message ? parse(step.message) : std::nullopt;
    if (frame && on_frame(*frame, step.framed, now)) continue;
    end("no frame of this protocol");
  }
  if (messages_ != before) room_.publications().announce();
  incoming_rate_.moved(taken);
  watch_rates(now);
  return taken;
}

void ServerSession::end(std::string complaint) {
  if (!broken_) complaint_ = std::move(complaint);
  broken_ = true;
  if (reader_) reader_->stop_here();
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
  outgoing_rate_.expect(has_unread(), true, now);
}

std::optional<Time> ServerSession::deadline() const {
  const auto slow = earlier(incoming_rate_.deadline(), outgoing_rate_.deadline());
  return finished() ? slow : earlier(slow, earlier(join_by_, publisher_.deadline()));
}

// Returns false if the peer broke the protocol.
bool ServerSession::on_frame(const Frame& frame, Bytes framed, Time now) {
  if (frame.kind == Kind::join && !joined_) return join(frame.member);
  if (!joined_ || frame.member != member_) return false;
  if (frame.kind == Kind::join && lossy_) {
    // Sends one answer for all join frames so far: a flood of them makes no queue.
    if (outbox_.empty()) answer(Kind::welcome);
    return true;
  }
  if (frame.kind != Kind::message) return false;
  room_.append(framed, now);
  publisher_.published(framed.size(), now);
  ++messages_;
  return true;
}

bool ServerSession::join(std::uint32_t member) {
  joined_ = room_.join(member);
  if (joined_ && !room_.has_group()) reader_.emplace(room_.log());
  join_by_.reset();
  member_ = member;
  answer(joined_ ? Kind::welcome : Kind::refused);
  if (!joined_) end(fmt::format("the member number {} is taken or too large", member));
  return joined_;
}

void ServerSession::answer(Kind kind) {
  Writer reply(kFraming, outbox_);
  write({.kind = kind, .member = member_, .payload = {}}, reply);
}

void ServerSession::leave() {
  leaving_ = true;
  if (reader_) reader_->stop_here();
}

std::size_t ServerSession::output(std::span<Segment> into) const {
  std::size_t filled = outbox_.segments(into);
  if (!reader_) return filled;
  if (!room_.rules().each_alone) return filled + reader_->segments(into.subspan(filled));
  if (filled > 0) return filled;
  filled = reader_->segments(into.first(1));
  if (filled > 0) into[0].bytes = into[0].bytes.first(first_frame());
  return filled;
}

// Returns the number of unsent bytes of the log's first frame.
std::size_t ServerSession::first_frame() const {
  if (frame_left_ > 0) return frame_left_;
  Segment next;
  reader_->segments({&next, 1});
  return kLengthBytes + read_big_endian<std::uint32_t>(next.bytes.data());
}

void ServerSession::consumed(std::size_t n) {
  const std::size_t own = std::min(n, outbox_.size());
  outbox_.consumed(own);
  unreleased_ += own;
  if (n > own) {
    if (room_.rules().each_alone) frame_left_ = first_frame() - (n - own);
    reader_->consumed(n - own);
  }
  outgoing_rate_.moved(n);
  if (!has_unread()) outgoing_rate_.reset();
}

void ServerSession::released(std::size_t n) {
  const std::size_t own = std::min(n, unreleased_);
  outbox_.released(own);
  unreleased_ -= own;
  if (n > own) reader_->released(n - own);
}

}  // namespace joust::broadcast

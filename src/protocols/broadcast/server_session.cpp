// SPDX-License-Identifier: MIT
#include "protocols/broadcast/server_session.hpp"

#include <algorithm>

#include "base/endian.hpp"

namespace joust::broadcast {

std::size_t ServerSession::on_bytes(Bytes chunk, Time /*now*/) {
  std::size_t taken = 0;
  const std::uint64_t before = messages_;
  while (taken < chunk.size() && want() == Want::bytes) {
    const Deframer::Step step = deframer_.next(chunk.subspan(taken));
    taken += step.taken;
    if (step.status == Deframer::Status::need_more) break;
    const auto frame = step.status == Deframer::Status::message ? parse(step.message) : std::nullopt;
    if (frame && on_frame(*frame, step.framed)) continue;
    broken_ = true;
    if (reader_) reader_->stop_here();
  }
  if (messages_ != before) room_.publications().announce();
  return taken;
}

// False when the peer broke the protocol.
bool ServerSession::on_frame(const Frame& frame, Bytes framed) {
  if (frame.kind == Kind::join) return !reader_ && join(frame.member);
  if (frame.kind != Kind::message || !reader_ || frame.member != member_) return false;
  room_.append(framed);
  ++messages_;
  return true;
}

bool ServerSession::join(std::uint32_t member) {
  const bool welcome = room_.join(member);
  if (welcome) reader_.emplace(room_.log());
  member_ = member;
  Writer reply(kFraming, outbox_);
  write({.kind = welcome ? Kind::welcome : Kind::refused, .member = member, .payload = {}}, reply);
  return welcome;
}

void ServerSession::leave() {
  leaving_ = true;
  if (reader_) reader_->stop_here();
}

std::size_t ServerSession::output(std::span<Segment> into) const {
  std::size_t filled = outbox_.segments(into);
  if (!reader_) return filled;
  if (!room_.each_alone()) return filled + reader_->segments(into.subspan(filled));
  if (filled > 0) return filled;
  filled = reader_->segments(into.first(1));
  if (filled > 0) into[0].bytes = into[0].bytes.first(first_frame());
  return filled;
}

// The bytes left of the frame the log continues with.
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
  if (n == own) return;
  if (room_.each_alone()) frame_left_ = first_frame() - (n - own);
  reader_->consumed(n - own);
}

void ServerSession::released(std::size_t n) {
  const std::size_t own = std::min(n, unreleased_);
  outbox_.released(own);
  unreleased_ -= own;
  if (n > own) reader_->released(n - own);
}

}  // namespace joust::broadcast

// SPDX-License-Identifier: MIT
//
// The server side of broadcast: a log of all messages, and members that read it at their own pace.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <stdexcept>

#include "base/text.hpp"
#include "protocols/broadcast/wire.hpp"

namespace joust::broadcast {
namespace {

class Room : public Service {
 public:
  explicit Room(const Parameters& parameters)
      : each_(parameters.option("flush") == "each"), log_(bytes_of(parameters.option("room-bytes"))) {}

  std::unique_ptr<Session> open(const Opening& opening) override;
  Publications* publications() override { return &publications_; }
  std::vector<ResultGroup> results() const override {
    return {{"room", {{"messages", messages_.load()}, {"evicted", log_.given_up()}}}};
  }

  bool join(std::uint32_t member) {
    const std::lock_guard lock(mutex_);
    return member < kMostMembers && members_.insert(member).second;
  }
  void leave(std::uint32_t member) {
    const std::lock_guard lock(mutex_);
    members_.erase(member);
  }
  void append(Bytes frame) {
    log_.append(frame);
    messages_.fetch_add(1, std::memory_order_relaxed);
  }

  bool each() const { return each_; }
  RoomLog& log() { return log_; }

 private:
  static std::uint64_t bytes_of(const std::string& text) {
    const auto bytes = parse_bytes(text);
    if (!bytes) throw std::invalid_argument("--room-bytes: " + bytes.error());
    if (*bytes < RoomLog::kLargest)
      throw std::invalid_argument(fmt::format("--room-bytes: at least {}", RoomLog::kLargest));
    return *bytes;
  }

  const bool each_;
  RoomLog log_;
  Publications publications_;
  std::atomic<std::uint64_t> messages_{0};
  std::mutex mutex_;
  std::set<std::uint32_t> members_;
};

class MemberSession : public Session {
 public:
  explicit MemberSession(Room& room) : room_(room) {}
  ~MemberSession() override {
    if (reader_) room_.leave(member_);
  }
  MemberSession(const MemberSession&) = delete;
  MemberSession& operator=(const MemberSession&) = delete;

  std::size_t on_bytes(Bytes chunk, Time now) override;
  void on_peer_finished(Time /*now*/) override { leave(); }
  void on_drain(Time /*now*/) override { leave(); }

  std::size_t output(std::span<Segment> into) const override;
  Want want() const override { return broken_ || leaving_ ? Want::nothing : Want::bytes; }
  bool finished() const override { return broken_ || leaving_; }
  std::string_view complaint() const override { return broken_ ? "no frame of this protocol" : ""; }
  bool gives_up() const override { return reader_ && reader_->given_up(); }
  void consumed(std::size_t n) override;
  void released(std::size_t n) override;

 private:
  std::size_t first_frame() const;
  bool hear(const Frame& frame, Bytes framed);
  bool join(std::uint32_t member);
  void leave();

  Room& room_;
  Deframer deframer_{kFraming};
  Outbox outbox_;               // what is for this member alone; it goes before the room's
  std::size_t unreleased_ = 0;  // bytes of the outbox that were consumed
  std::optional<RoomLog::Reader> reader_;
  std::size_t frame_left_ = 0;  // of the frame being sent, where each goes alone
  std::uint32_t member_ = 0;
  std::uint64_t messages_ = 0;
  bool broken_ = false;
  bool leaving_ = false;
};

std::size_t MemberSession::on_bytes(Bytes chunk, Time /*now*/) {
  std::size_t taken = 0;
  const std::uint64_t before = messages_;
  while (taken < chunk.size() && want() == Want::bytes) {
    const Deframer::Step step = deframer_.next(chunk.subspan(taken));
    taken += step.taken;
    if (step.status == Deframer::Status::need_more) break;
    const auto frame = step.status == Deframer::Status::message ? parse(step.message) : std::nullopt;
    if (frame && hear(*frame, step.framed)) continue;
    broken_ = true;
    if (reader_) reader_->stop_here();
  }
  if (messages_ != before) room_.publications()->announce();
  return taken;
}

// False when the peer broke the protocol.
bool MemberSession::hear(const Frame& frame, Bytes framed) {
  if (frame.kind == Kind::join) return !reader_ && join(frame.member);
  if (frame.kind != Kind::message || !reader_ || frame.member != member_) return false;
  room_.append(framed);
  ++messages_;
  return true;
}

bool MemberSession::join(std::uint32_t member) {
  const bool welcome = room_.join(member);
  if (welcome) reader_.emplace(room_.log());
  member_ = member;
  Writer reply(kFraming, outbox_);
  write({.kind = welcome ? Kind::welcome : Kind::refused, .member = member, .payload = {}}, reply);
  return welcome;
}

void MemberSession::leave() {
  leaving_ = true;
  if (reader_) reader_->stop_here();
}

std::size_t MemberSession::output(std::span<Segment> into) const {
  std::size_t filled = outbox_.segments(into);
  if (!reader_) return filled;
  if (!room_.each()) return filled + reader_->segments(into.subspan(filled));
  if (filled > 0) return filled;
  filled = reader_->segments(into.first(1));
  if (filled > 0) into[0].bytes = into[0].bytes.first(first_frame());
  return filled;
}

// The bytes left of the frame the log continues with.
std::size_t MemberSession::first_frame() const {
  if (frame_left_ > 0) return frame_left_;
  Segment next;
  reader_->segments({&next, 1});
  return kLengthBytes + read_big_endian<std::uint32_t>(next.bytes.data());
}

void MemberSession::consumed(std::size_t n) {
  const std::size_t own = std::min(n, outbox_.size());
  outbox_.consumed(own);
  unreleased_ += own;
  if (n == own) return;
  if (room_.each()) frame_left_ = first_frame() - (n - own);
  reader_->consumed(n - own);
}

void MemberSession::released(std::size_t n) {
  const std::size_t own = std::min(n, unreleased_);
  outbox_.released(own);
  unreleased_ -= own;
  if (n > own) reader_->released(n - own);
}

std::unique_ptr<Session> Room::open(const Opening& /*opening*/) {
  return std::make_unique<MemberSession>(*this);
}

}  // namespace

std::unique_ptr<Service> make_room(const Parameters& parameters) {
  return std::make_unique<Room>(parameters);
}

}  // namespace joust::broadcast

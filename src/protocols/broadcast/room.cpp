// SPDX-License-Identifier: MIT
#include "protocols/broadcast/room.hpp"

#include <algorithm>

#include "protocols/broadcast/protocol.hpp"
#include "session/framing.hpp"

namespace joust::broadcast {

std::shared_ptr<Membership> Room::join(std::uint32_t member, Time now) {
  if (member >= kMostMembers) return nullptr;
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Membership>& membership = members_[member];
  if (membership) {
    if (now - membership->active_at() < kHeldFor) return nullptr;
    membership->revoke();
    publications_.announce();
  }
  return membership = std::make_shared<Membership>(now);
}

void Room::leave(std::uint32_t member, const Membership& membership) {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(member);
  if (found != members_.end() && found->second.get() == &membership) members_.erase(found);
}

void Room::append(Bytes frame, Time now) {
  log_.append(frame, now);
  messages_.fetch_add(1, std::memory_order_relaxed);
}

ResultGroup Room::results() const {
  return {"room",
          {{"messages", messages_.load()},
           {"evicted", log_.given_up()},
           {"too_slow", too_slow_.load()},
           {"times_crowded", log_.times_crowded()}}};
}

void MemberOutput::follow(RoomLog& log) {
  log_ = &log;
  reader_.emplace(log);
  for (Words& words : waiting_) words.at = reader_->position();
  limit_log();
}

void MemberOutput::stop() {
  if (!reader_ || end_) return;
  end_ = log_->end();
  limit_log();
}

void MemberOutput::said(std::size_t bytes) {
  const std::uint64_t at = end_ ? *end_ : reader_ ? log_->end() : 0;
  if (says() && waiting_.back().at == at)
    waiting_.back().bytes += bytes;
  else
    waiting_.push_back({at, bytes});
  limit_log();
}

// The log is shown up to the next words, or up to where it ends for this member.
void MemberOutput::limit_log() {
  if (!reader_) return;
  if (says())
    reader_->stop_at(waiting_.front().at);
  else if (end_)
    reader_->stop_at(*end_);
  else
    reader_->go_on();
}

std::size_t MemberOutput::memory() const {
  return words_.size() + waiting_.size() * sizeof(Words);
}

std::size_t MemberOutput::segments(std::span<Segment> into) const {
  std::size_t filled = 0;
  if (reader_ && rules_.each_alone) {
    filled = reader_->segments(into.first(1));
    if (filled > 0) {
      into[0].bytes = into[0].bytes.first(first_frame());
      return filled;
    }
  } else if (reader_) {
    filled = reader_->segments(into);
  }
  if (!says()) return filled;
  const std::span<Segment> rest = into.subspan(filled);
  return filled + first_bytes(rest.first(words_.segments(rest)), waiting_.front().bytes);
}

// Returns the number of unsent bytes of the log's first frame.
std::size_t MemberOutput::first_frame() const {
  if (frame_left_ > 0) return frame_left_;
  Segment next;
  reader_->segments({&next, 1});
  return framed_size(rules_.framing, next.bytes);
}

void MemberOutput::consumed(std::size_t n) {
  std::size_t of_log = reader_ ? n : 0;
  if (reader_ && says()) of_log = std::min<std::uint64_t>(n, waiting_.front().at - reader_->position());
  if (of_log > 0) {
    if (rules_.each_alone) frame_left_ = first_frame() - of_log;
    reader_->consumed(of_log);
  }
  if (of_log == n) return;
  words_.consumed(n - of_log);
  waiting_.front().bytes -= n - of_log;
  unreleased_ += n - of_log;
}

void MemberOutput::released(std::size_t n) {
  const std::size_t of_log = reader_ ? std::min<std::uint64_t>(n, reader_->unreleased()) : 0;
  if (of_log > 0) reader_->released(of_log);
  if (of_log == n) return;
  words_.released(n - of_log);
  unreleased_ -= n - of_log;
  if (unreleased_ > 0 || waiting_.front().bytes > 0) return;
  waiting_.pop_front();
  limit_log();
}

}  // namespace joust::broadcast

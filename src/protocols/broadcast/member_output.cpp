// SPDX-License-Identifier: MIT
#include "protocols/broadcast/member_output.hpp"

#include <algorithm>

namespace joust::broadcast {

void MemberOutput::follow(RoomLog& log) {
  reader_.emplace(log);
  if (says()) reader_->stop_at_once();
}

void MemberOutput::stop() {
  stopped_ = true;
  if (reader_) reader_->stop_here();
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
  return filled + words_.segments(into.subspan(filled));
}

// Returns the number of unsent bytes of the log's first frame.
std::size_t MemberOutput::first_frame() const {
  if (frame_left_ > 0) return frame_left_;
  Segment next;
  reader_->segments({&next, 1});
  return framed_size(rules_.carriage, next.bytes);
}

void MemberOutput::consumed(std::size_t n) {
  const std::size_t of_log = !reader_ ? 0 : says() ? std::min<std::uint64_t>(n, reader_->left()) : n;
  if (of_log > 0) {
    if (rules_.each_alone) frame_left_ = first_frame() - of_log;
    reader_->consumed(of_log);
  }
  words_.consumed(n - of_log);
  unreleased_ += n - of_log;
}

void MemberOutput::released(std::size_t n) {
  const std::size_t of_log = reader_ ? std::min<std::uint64_t>(n, reader_->unreleased()) : 0;
  if (of_log > 0) reader_->released(of_log);
  if (of_log == n) return;
  words_.released(n - of_log);
  unreleased_ -= n - of_log;
  if (reader_ && !stopped_ && !says()) reader_->go_on();
}

}  // namespace joust::broadcast

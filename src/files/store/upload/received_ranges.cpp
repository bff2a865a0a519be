// SPDX-License-Identifier: MIT
#include "files/store/upload/received_ranges.hpp"

#include <algorithm>

namespace joust {
namespace {

// The limit of separate ranges, for peers that send every second byte alone.
constexpr std::size_t kMostRanges = 4096;

}  // namespace

FileAnswer<void> ReceivedRanges::take(ByteRange range) {
  if (size_ == 0) return {};
  if (taken_.pieces() >= kMostRanges) return refused(FileError::busy, "too many loose ranges");
  if (!taken_.insert(range.offset, range.end()))
    return refused(FileError::overlap, "some of the range is there already, or it is empty");
  return {};
}

std::uint64_t ReceivedRanges::give_back(ByteRange range) {
  taken_.erase(range.offset, range.end());
  const std::uint64_t arrived = std::min(range.end(), stored_from(range.offset));
  stored_.erase(range.offset, arrived);
  return arrived;
}

void ReceivedRanges::stored(ByteRange part) {
  stored_.insert(part.offset, part.end());
}

void ReceivedRanges::distrust(ByteRange range) {
  stored_.erase(range.offset, std::min(range.end(), stored_from(range.offset)));
}

void ReceivedRanges::finish(ByteRange range) {
  finished_.insert(range.offset, range.end());
  there_ += range.size;
}

void ReceivedRanges::begin_with(std::uint64_t bytes) {
  taken_.insert(0, bytes);
  stored_.insert(0, bytes);
  finished_.insert(0, bytes);
  there_ = bytes;
}

bool ReceivedRanges::are_finished(ByteRange range) const {
  return range.size > 0 && finished_.end_of(range.offset) >= range.end();
}

}  // namespace joust

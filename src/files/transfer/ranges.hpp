// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "files/store/storage.hpp"
#include "files/transfer/transfer.hpp"

namespace joust::transfer {

// The ranges of one file that have not been moved. A free connection takes the next one, so that a slow
// connection delays no other. One thread at a time.
class RangesLeft {
 public:
  // The largest number of ranges into which so many bytes are divided.
  static std::uint64_t most_of(std::uint64_t bytes) {
    return bytes / kLeastRange + (bytes % kLeastRange > 0 ? 1 : 0);
  }

  RangesLeft() = default;
  // With many connections each range is smaller: the digest is made in the order of the bytes, and would
  // otherwise fall behind by all ranges that are under way.
  RangesLeft(std::uint64_t size, std::size_t connections)
      : size_(size), left_(size), most_(connections > kFew ? kRangeBytes / 2 : kRangeBytes) {}

  // Starts after the first `there` bytes: all others are left.
  void begin(std::uint64_t there) {
    first_ = next_ = there;
    left_ = size_ - there;
    returned_.clear();
  }

  std::optional<ByteRange> take() {
    if (!returned_.empty()) {
      ByteRange& range = returned_.back();
      const ByteRange part{range.offset, std::min(range.size, portion_)};
      range = {part.end(), range.size - part.size};
      if (range.size == 0) returned_.pop_back();
      return part;
    }
    if (next_ == size_) return std::nullopt;
    // An interruption loses the incomplete ranges of all connections. Ranges grow with the bytes taken, so
    // that the loss is small beside them, also early on and on slow connections.
    const std::uint64_t sixteenth = (next_ - first_) / 16 & ~(kLeastRange - 1);
    const std::uint64_t most = std::min(std::clamp(sixteenth, kLeastRange, most_), portion_);
    const ByteRange range{next_, std::min(most, size_ - next_)};
    next_ = range.end();
    return range;
  }
  // Takes back a range that was lost with its connection. The next ranges are smaller: on a link that fails
  // often, smaller ones may get through.
  void give_back(ByteRange range) {
    returned_.push_back(range);
    portion_ = std::max(kLeastPortion, std::min(portion_, range.size / 2));
  }
  void finish(ByteRange range) {
    left_ -= range.size;
    portion_ = std::min(kRangeBytes, portion_ * 2);
  }

  bool any() const { return !returned_.empty() || next_ < size_; }
  bool complete() const { return left_ == 0; }
  std::uint64_t done() const { return size_ - left_; }  // bytes

 private:
  static constexpr std::uint64_t kLeastRange = 1 << 20;     // bytes
  static constexpr std::uint64_t kLeastPortion = 64 << 10;  // bytes
  static constexpr std::size_t kFew = 8;                    // connections

  std::uint64_t size_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t next_ = 0;  // the first byte that was never handed out
  std::uint64_t left_ = 0;  // bytes that are not moved
  std::uint64_t most_ = kRangeBytes;
  std::uint64_t portion_ = kRangeBytes;  // limit of a range, after losses
  std::vector<ByteRange> returned_;
};

}  // namespace joust::transfer

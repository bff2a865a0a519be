// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "store/storage.hpp"
#include "transfer/transfer.hpp"

namespace joust::transfer {

// The ranges of one file that have not been moved. A free connection takes the next one, so that a slow
// connection delays nobody. One thread at a time.
class RangesLeft {
 public:
  RangesLeft() = default;
  // Of what is behind the first `there` bytes. Many connections have less at a time each: the digest is made
  // in the order of the bytes, and would otherwise fall behind by all that is under way.
  RangesLeft(std::uint64_t size, std::uint64_t there, std::size_t connections)
      : size_(size),
        first_(there),
        next_(there),
        left_(size - there),
        most_(connections > kFew ? kRangeBytes / 2 : kRangeBytes) {}

  std::optional<ByteRange> take() {
    if (!returned_.empty()) {
      const ByteRange range = returned_.back();
      returned_.pop_back();
      return range;
    }
    if (next_ == size_) return std::nullopt;
    // An interruption loses what is incomplete on all connections: early on, and on slow ones, that is to be
    // little beside what is there.
    const std::uint64_t sixteenth = (next_ - first_) / 16 & ~(kLeastRange - 1);
    const std::uint64_t most = std::clamp(sixteenth, kLeastRange, most_);
    const ByteRange range{next_, std::min(most, size_ - next_)};
    next_ = range.end();
    return range;
  }
  void give_back(ByteRange range) { returned_.push_back(range); }
  void finish(ByteRange range) { left_ -= range.size; }

  bool any() const { return !returned_.empty() || next_ < size_; }
  bool complete() const { return left_ == 0; }
  std::uint64_t done() const { return size_ - left_; }  // bytes

 private:
  static constexpr std::uint64_t kLeastRange = 1 << 20;  // bytes
  static constexpr std::size_t kFew = 8;                 // connections

  std::uint64_t size_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t next_ = 0;  // the first byte that was never handed out
  std::uint64_t left_ = 0;  // bytes that are not there
  std::uint64_t most_ = kRangeBytes;
  std::vector<ByteRange> returned_;
};

}  // namespace joust::transfer

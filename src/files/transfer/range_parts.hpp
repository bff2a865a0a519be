// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "files/protocol/wire.hpp"
#include "files/store/storage.hpp"

namespace joust::transfer {

// The range that a connection fetches, asked for part by part: a rate limit makes the parts small.
class RangeParts {
 public:
  void begin(ByteRange range) {
    behind_ = range;
    part_ = left_ = {};
  }
  // Takes the next part, of at most so many bytes.
  ByteRange next(std::uint64_t most) {
    part_ = left_ = {behind_.offset, std::min(behind_.size, most)};
    behind_ = {part_.end(), behind_.size - part_.size};
    return part_;
  }
  bool fits(const file::Data& data) const { return data.size > 0 && data.size <= left_.size; }
  bool is_complete(const file::End& end) const { return left_.size == 0 && end.size == part_.size; }
  void stored(std::size_t n) { left_ = {left_.offset + n, left_.size - n}; }

  ByteRange part() const { return part_; }
  bool is_last() const { return behind_.size == 0; }
  std::uint64_t offset() const { return left_.offset; }                // of the next byte that arrives
  std::uint64_t missing() const { return left_.size + behind_.size; }  // bytes of the range

 private:
  ByteRange behind_{};  // the part of the range that is not asked for yet
  ByteRange part_{};    // the part that is asked for
  ByteRange left_{};    // the rest of part_, which has not arrived
};

}  // namespace joust::transfer

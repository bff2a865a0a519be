// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "files/store/quota/range_set.hpp"
#include "files/store/storage.hpp"

namespace joust {

// The ranges of an upload: those that connections have taken, the parts of them that are stored, and those
// that are complete. One thread at a time.
class ReceivedRanges {
 public:
  explicit ReceivedRanges(std::uint64_t size) : size_(size) {}

  // Refuses a range of the file that is taken already. A file of no bytes has no ranges to take.
  FileAnswer<void> take(ByteRange range);
  // Frees a taken range. Returns the end of its stored part. Throws std::bad_alloc.
  std::uint64_t give_back(ByteRange range);
  void stored(ByteRange part);           // the parts of a range are stored in order
  void distrust(ByteRange range);        // its stored part is to be stored again
  void finish(ByteRange range);          // it is complete
  void begin_with(std::uint64_t bytes);  // the first bytes are complete from the start

  bool are_finished(ByteRange range) const;
  bool are_complete() const { return there_ == size_; }  // all ranges are finished
  std::uint64_t stored_from(std::uint64_t offset) const { return stored_.end_of(offset); }
  // The end of the first bytes that never change: all their ranges are complete.
  std::uint64_t unchanging() const { return finished_.end_of(0); }

 private:
  const std::uint64_t size_;
  RangeSet taken_;
  RangeSet stored_;          // the part of taken_ that is stored
  RangeSet finished_;        // the ranges of stored_ that are complete
  std::uint64_t there_ = 0;  // bytes in finished_
};

}  // namespace joust

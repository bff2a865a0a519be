// SPDX-License-Identifier: MIT
//
// How large the ranges are that connections take.
#include <gtest/gtest.h>

#include "files/transfer/ranges.hpp"

namespace joust::transfer {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

std::uint64_t largest(RangesLeft& ranges) {
  std::uint64_t most = 0;
  while (const auto range = ranges.take()) most = std::max(most, range->size);
  return most;
}

TEST(RangesLeft, AreAllOfTheFileOnce) {
  for (const std::uint64_t there : {std::uint64_t{0}, 3 * kMiB + 1, 100 * kMiB}) {
    RangesLeft ranges(100 * kMiB, 4);
    ranges.begin(there);
    std::uint64_t next = there;
    while (const auto range = ranges.take()) {
      EXPECT_EQ(range->offset, next);
      next = range->end();
      EXPECT_FALSE(ranges.complete());
      ranges.finish(*range);
    }
    EXPECT_EQ(next, 100 * kMiB);
    EXPECT_TRUE(ranges.complete());
  }
}

TEST(RangesLeft, GrowAndAreSmallerForManyConnections) {
  RangesLeft few(1024 * kMiB, 4), many(1024 * kMiB, 20);
  EXPECT_EQ(few.take()->size, kMiB);
  EXPECT_EQ(largest(few), 8 * kMiB);
  EXPECT_EQ(largest(many), 4 * kMiB);
}

// And they grow again when they get through.
TEST(RangesLeft, ShrinkWithEachLoss) {
  RangesLeft ranges(1024 * kMiB, 4);
  ByteRange range = *ranges.take();
  for (const std::uint64_t expected : {kMiB / 2, kMiB / 4, kMiB / 8, kMiB / 16, kMiB / 16}) {
    ranges.give_back(range);
    range = *ranges.take();
    EXPECT_EQ(range.offset, 0U);
    EXPECT_EQ(range.size, expected);
  }
  ranges.finish(range);
  EXPECT_EQ(*ranges.take(), (ByteRange{kMiB / 16, kMiB / 16}));
  EXPECT_EQ(ranges.take()->offset, kMiB / 8);
  EXPECT_EQ(ranges.done(), kMiB / 16);
}

}  // namespace
}  // namespace joust::transfer

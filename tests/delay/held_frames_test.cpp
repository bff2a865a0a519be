// SPDX-License-Identifier: MIT
#include "delay/held_frames.hpp"

#include <gtest/gtest.h>

namespace joust {
namespace {

using std::chrono::milliseconds;

std::vector<std::byte> frame_of(std::size_t bytes, int value) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

TEST(HeldFrames, LeaveInTheOrderInWhichTheyCame) {
  HeldFrames held({});
  EXPECT_TRUE(held.hold(Time(milliseconds(5)), 0, frame_of(60, 1)));
  EXPECT_TRUE(held.hold(Time(milliseconds(6)), 1, frame_of(70, 2)));
  EXPECT_EQ(held.bytes(), 130U);
  EXPECT_EQ(held.first().due, Time(milliseconds(5)));
  EXPECT_EQ(held.first().bytes, frame_of(60, 1));
  held.release();
  EXPECT_EQ(held.first().from, 1U);
  held.release();
  EXPECT_TRUE(held.empty());
  EXPECT_EQ(held.bytes(), 0U);
}

TEST(HeldFrames, AreDroppedAndCountedWhereThereIsNoRoom) {
  HeldFrames few({.frames = 2, .bytes = 1000});
  EXPECT_TRUE(few.hold({}, 0, frame_of(60, 1)));
  EXPECT_TRUE(few.hold({}, 0, frame_of(60, 2)));
  EXPECT_FALSE(few.hold({}, 0, frame_of(60, 3)));
  EXPECT_EQ(few.size(), 2U);

  HeldFrames small({.frames = 100, .bytes = 1000});
  EXPECT_TRUE(small.hold({}, 0, frame_of(900, 1)));
  EXPECT_FALSE(small.hold({}, 0, frame_of(101, 2)));
  EXPECT_TRUE(small.hold({}, 0, frame_of(100, 3)));
  EXPECT_EQ(small.dropped(), 1U);
  small.release();
  EXPECT_TRUE(small.hold({}, 0, frame_of(900, 4)));
}

}  // namespace
}  // namespace joust

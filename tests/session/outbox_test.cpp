// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <string>

#include "joust/outbox.hpp"

namespace joust {
namespace {

std::string shown_by(const Outbox& outbox) {
  std::array<Segment, 64> segments;
  std::string all;
  for (std::size_t i = 0; i < outbox.segments(segments); ++i) all += as_text(segments[i].bytes);
  return all;
}

// An outbox beside the plainest thing that does the same; what has been shown is looked at again until it is
// released.
class OutboxModel {
 public:
  void append(std::size_t size) {
    std::string bytes(size, '\0');
    std::iota(bytes.begin(), bytes.end(), next_);
    next_ = static_cast<char>(next_ + 31);
    outbox_.append(bytes);
    unsent_ += bytes;
  }
  void consume(std::size_t most) {
    std::array<Segment, 8> segments;
    const std::size_t count = outbox_.segments(segments);
    std::size_t left = most;
    for (std::size_t i = 0; i < count && left > 0; ++i) {
      const Bytes part = segments[i].bytes.first(std::min(left, segments[i].bytes.size()));
      in_flight_.push_back({part, std::string(as_text(part))});
      left -= part.size();
    }
    outbox_.consumed(most - left);
    unsent_.erase(0, most - left);
  }
  void release(std::size_t most) {
    std::size_t n = 0;
    for (; !in_flight_.empty() && n + in_flight_.front().copy.size() <= most; in_flight_.pop_front())
      n += in_flight_.front().copy.size();
    outbox_.released(n);
  }
  bool agrees() const {
    const auto unchanged = [](const InFlight& part) { return as_text(part.where) == part.copy; };
    return outbox_.size() == unsent_.size() && outbox_.empty() == unsent_.empty() &&
           shown_by(outbox_) == unsent_ && std::ranges::all_of(in_flight_, unchanged);
  }

 private:
  struct InFlight {
    Bytes where;
    std::string copy;
  };
  Outbox outbox_;
  std::string unsent_;
  std::deque<InFlight> in_flight_;
  char next_ = 0;
};

RC_GTEST_PROP(OutboxProperty, BehavesLikeAQueueOfBytes, ()) {
  OutboxModel model;
  const auto steps = *rc::gen::container<std::vector<std::pair<int, std::size_t>>>(
      rc::gen::pair(rc::gen::inRange(0, 3), rc::gen::inRange<std::size_t>(0, 3000)));
  for (const auto& [what, size] : steps) {
    if (what == 0) model.append(size);
    if (what == 1) model.consume(size);
    if (what == 2) model.release(size);
    RC_ASSERT(model.agrees());
  }
}

TEST(OutboxTest, WhatWasShownStaysWhileMoreIsAppended) {
  Outbox outbox;
  outbox.append("the first");
  Segment first;
  ASSERT_EQ(outbox.segments({&first, 1}), 1U);
  for (int i = 0; i < 1000; ++i) outbox.append(std::string(1000, 'x'));
  EXPECT_EQ(as_text(first.bytes), "the first");
  Segment again;
  outbox.segments({&again, 1});
  EXPECT_EQ(again.bytes.data(), first.bytes.data());
}

TEST(OutboxTest, ExtendIsOnePiece) {
  Outbox outbox;
  outbox.append(std::string(900, 'a'));
  const std::span<std::byte> room = outbox.extend(300'000);
  ASSERT_EQ(room.size(), 300'000U);
  std::ranges::fill(room, std::byte{'b'});
  std::array<Segment, 4> segments;
  ASSERT_EQ(outbox.segments(segments), 2U);
  EXPECT_EQ(segments[1].bytes.data(), room.data());
  EXPECT_EQ(segments[1].bytes.size(), 300'000U);
}

TEST(OutboxTest, ShowsNoMoreSegmentsThanThereIsRoomFor) {
  Outbox outbox;
  for (int i = 0; i < 8; ++i) outbox.append(std::string(100'000, 'x'));
  std::array<Segment, 3> segments;
  EXPECT_EQ(outbox.segments(segments), 3U);
  EXPECT_EQ(outbox.segments({}), 0U);
}

// One short reply at a time needs one small block for the life of the connection.
TEST(OutboxTest, MemoryIsUsedAgain) {
  Outbox outbox;
  const std::byte* where = nullptr;
  for (int i = 0; i < 10; ++i) {
    outbox.append("a short reply");
    Segment segment;
    ASSERT_EQ(outbox.segments({&segment, 1}), 1U);
    if (where == nullptr) where = segment.bytes.data();
    EXPECT_EQ(segment.bytes.data(), where);
    outbox.consumed(segment.bytes.size());
    outbox.released(segment.bytes.size());
  }
}

}  // namespace
}  // namespace joust

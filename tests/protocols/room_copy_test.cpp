// SPDX-License-Identifier: MIT
#include "protocols/broadcast/room_copy.hpp"

#include <gtest/gtest.h>

#include <string>

namespace joust::broadcast {
namespace {

constexpr RoomCopy::Position kUnknown = RoomCopy::kUnknown;

// A message of a member, as it comes without its length, and as it comes in a stream.
struct Said {
  Said(std::uint32_t member, std::uint64_t number, std::string text = "words") : words(std::move(text)) {
    frame = {.kind = Kind::message, .member = member, .number = number, .payload = as_bytes(words)};
    const auto head = head_of(frame);
    message.assign(head.begin(), head.end());
    message.insert(message.end(), frame.payload.begin(), frame.payload.end());
  }
  Said(const Said&) = delete;
  Said& operator=(const Said&) = delete;

  std::string words;
  Frame frame;
  std::vector<std::byte> message;
};

void append(std::vector<std::byte>& stream, const Said& said) {
  const std::size_t begin = stream.size();
  stream.resize(begin + kLengthBytes);
  write_big_endian(static_cast<std::uint32_t>(said.message.size()), stream.data() + begin);
  stream.insert(stream.end(), said.message.begin(), said.message.end());
}

// Members 0, 1 and 2, of which 2 is ahead.
class RoomCopyTest : public testing::Test {
 protected:
  void ahead(const Said& said) {
    leader_ = copy_.checked(said.frame, said.message, leader_);
    append(stream_, said);
  }

  RoomCopy copy_{3};
  RoomCopy::Position leader_ = kUnknown;
  std::vector<std::byte> stream_;
  std::vector<std::uint32_t> next_{0, 0, 0};
};

TEST_F(RoomCopyTest, WhatOneMemberHasCheckedAnotherTakesAtOnce) {
  const Said first(2, 0), second(1, 0), third(2, 1);
  ahead(first);
  ahead(second);
  ahead(third);
  RoomCopy::Position position = copy_.checked(first.frame, first.message, 0);
  next_[2] = 1;
  const Bytes rest = Bytes(stream_).subspan(kLengthBytes + first.message.size());
  const auto known = copy_.known(rest, 0, position, next_);
  EXPECT_EQ(known.bytes, rest.size());
  EXPECT_EQ(known.messages, 2U);
  EXPECT_EQ(position, leader_);
  EXPECT_EQ(next_, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST_F(RoomCopyTest, AMessageOfTheMemberItselfIsLeftToIt) {
  ahead(Said(2, 0));
  ahead(Said(0, 0));
  RoomCopy::Position position = 0;
  const auto known = copy_.known(stream_, 0, position, next_);
  EXPECT_EQ(known.messages, 1U);
  EXPECT_EQ(position, 1U);
}

TEST_F(RoomCopyTest, OwnMessagesBetweenThoseOfOthersAreLeftOneByOne) {
  ahead(Said(2, 0));
  ahead(Said(0, 0));
  ahead(Said(2, 1));
  ahead(Said(0, 1));
  RoomCopy::Reader reader(copy_);
  const Said first(2, 0);
  reader.checked(first.frame, first.message);  // has no position: its sender said more since
  EXPECT_EQ(reader.known(stream_, 0, next_).messages, 0U);
  RoomCopy::Position position = 0;
  EXPECT_EQ(copy_.known(stream_, 0, position, next_).messages, 1U);
  const Said own(0, 0);
  position = copy_.checked(own.frame, own.message, position);
  EXPECT_EQ(position, 2U);
  EXPECT_EQ(copy_.known(Bytes(stream_).subspan(stream_.size() / 2), 0, position, next_).messages, 1U);
  EXPECT_EQ(next_, (std::vector<std::uint32_t>{0, 0, 2}));
}

TEST_F(RoomCopyTest, ACutMessageIsNotTaken) {
  ahead(Said(2, 0));
  ahead(Said(2, 1));
  RoomCopy::Position position = 0;
  const auto known = copy_.known(Bytes(stream_).first(stream_.size() - 1), 0, position, next_);
  EXPECT_EQ(known.messages, 1U);
  EXPECT_EQ(known.bytes, stream_.size() / 2);
}

TEST_F(RoomCopyTest, AWrongByteEndsWhatIsTaken) {
  ahead(Said(2, 0));
  ahead(Said(2, 1));
  for (std::size_t wrong = 0; wrong < stream_.size(); ++wrong) {
    RoomCopy::Position position = 0;
    next_ = {0, 0, 0};
    std::vector<std::byte> other = stream_;
    other[wrong] ^= std::byte{1};
    EXPECT_EQ(copy_.known(other, 0, position, next_).messages, wrong < stream_.size() / 2 ? 0U : 1U);
  }
}

// It came to this member before, so it is wrong, whatever others have received.
TEST_F(RoomCopyTest, AMessageThatIsNotTheNextOfItsSenderIsNotTaken) {
  ahead(Said(2, 0));
  RoomCopy::Position position = 0;
  next_[2] = 1;
  EXPECT_EQ(copy_.known(stream_, 0, position, next_).messages, 0U);
}

TEST_F(RoomCopyTest, AnotherOrderLosesThePlaceAndTheNewestMessageFindsIt) {
  const Said first(2, 0), second(1, 0);
  ahead(first);
  ahead(second);
  EXPECT_EQ(copy_.checked(second.frame, second.message, 0), kUnknown);
  EXPECT_EQ(copy_.checked(second.frame, second.message, kUnknown), 2U);
  const Said unknown(1, 1);
  EXPECT_EQ(copy_.checked(unknown.frame, unknown.message, kUnknown), kUnknown);
}

TEST_F(RoomCopyTest, AMemberFarBehindHasNoPlace) {
  const std::string text(kLargestPayload, 'x');
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Said said(2, i, text);
    leader_ = copy_.checked(said.frame, said.message, leader_);
  }
  EXPECT_EQ(leader_, 100U);
  RoomCopy::Position position = 1;
  EXPECT_EQ(copy_.known(Said(2, 1, text).message, 0, position, next_).bytes, 0U);
  EXPECT_EQ(position, kUnknown);
}

}  // namespace
}  // namespace joust::broadcast

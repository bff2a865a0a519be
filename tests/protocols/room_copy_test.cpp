// SPDX-License-Identifier: MIT
#include "protocols/broadcast/room_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/bytes.hpp"

namespace joust::broadcast {
namespace {

// A message of a member, as it comes without its length.
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

void check(RoomCopy::Reader& reader, const Said& said) {
  EXPECT_EQ(reader.expected(said.frame.member), said.frame.number);
  reader.checked(said.frame, said.message);
}

using Numbers = std::vector<std::uint32_t>;

// Members 0, 1 and 2, of which 2 is ahead.
class RoomCopyTest : public testing::Test {
 protected:
  static constexpr std::size_t kMostBytes = 1000;

  void ahead(const Said& said) {
    check(leader_, said);
    const std::size_t begin = stream_.size();
    stream_.resize(begin + kLengthBytes);
    write_big_endian(static_cast<std::uint32_t>(said.message.size()), stream_.data() + begin);
    stream_.insert(stream_.end(), said.message.begin(), said.message.end());
  }
  Numbers expected(const RoomCopy::Reader& reader) const {
    return {reader.expected(0), reader.expected(1), reader.expected(2)};
  }

  RoomCopy copy_{3, kMostBytes};
  RoomCopy::Reader leader_{copy_, 2, true}, reader_{copy_, 0, true};
  std::vector<std::byte> stream_;
};

TEST_F(RoomCopyTest, WhatOneMemberHasCheckedAnotherTakesAtOnce) {
  ahead(Said(2, 0));
  ahead(Said(1, 0));
  ahead(Said(2, 1));
  const auto known = reader_.known(stream_);
  EXPECT_EQ(known.bytes, stream_.size());
  EXPECT_EQ(known.messages, 3U);
  EXPECT_EQ(expected(reader_), (Numbers{0, 1, 2}));
  EXPECT_EQ(reader_.known(stream_).bytes, 0U);
}

TEST_F(RoomCopyTest, OwnMessagesBetweenThoseOfOthersAreLeftOneByOne) {
  ahead(Said(2, 0));
  ahead(Said(0, 0));
  ahead(Said(0, 1));
  ahead(Said(2, 1));
  const std::size_t one = stream_.size() / 4;
  EXPECT_EQ(reader_.known(stream_).messages, 1U);
  EXPECT_EQ(reader_.known(Bytes(stream_).subspan(one)).bytes, 0U);
  check(reader_, Said(0, 0));
  EXPECT_EQ(reader_.known(Bytes(stream_).subspan(2 * one)).bytes, 0U);
  check(reader_, Said(0, 1));
  EXPECT_EQ(reader_.known(Bytes(stream_).subspan(3 * one)).messages, 1U);
  EXPECT_EQ(expected(reader_), (Numbers{2, 0, 2}));
  EXPECT_TRUE(reader_.follows());
}

TEST_F(RoomCopyTest, ACutMessageIsNotTaken) {
  ahead(Said(2, 0));
  ahead(Said(2, 1, "other words"));
  const std::size_t first = kLengthBytes + Said(2, 0).message.size();
  for (std::size_t cut = 0; cut < stream_.size(); ++cut) {
    RoomCopy::Reader reader(copy_, 1, true);
    EXPECT_EQ(reader.known(Bytes(stream_).first(cut)).bytes, cut < first ? 0 : first) << cut;
  }
}

TEST_F(RoomCopyTest, AWrongByteEndsWhatIsTaken) {
  ahead(Said(2, 0));
  ahead(Said(1, 0));
  for (std::size_t wrong = 0; wrong < stream_.size(); ++wrong) {
    RoomCopy::Reader reader(copy_, 0, true);
    std::vector<std::byte> other = stream_;
    other[wrong] ^= std::byte{1};
    EXPECT_EQ(reader.known(other).messages, wrong < stream_.size() / 2 ? 0U : 1U) << wrong;
    EXPECT_EQ(expected(reader), wrong < stream_.size() / 2 ? (Numbers{0, 0, 0}) : (Numbers{0, 0, 1}));
  }
}

TEST_F(RoomCopyTest, KnowsTheNextNumberOfEachSenderWhereverAMemberIs) {
  std::vector<std::uint32_t> senders;
  Numbers said(3), had(3);
  for (std::uint32_t i = 0; i < 30; ++i) {
    senders.push_back(i * i / 7 % 3);
    ahead(Said(senders[i], said[senders[i]]++, ""));
  }
  const std::size_t one = stream_.size() / senders.size();
  for (std::size_t place = 0; place < senders.size();) {
    EXPECT_EQ(expected(reader_), had);
    const std::size_t cut = std::min(senders.size(), place + 4);
    std::size_t taken = reader_.known(Bytes(stream_).subspan(place * one, (cut - place) * one)).messages;
    if (taken == 0) check(reader_, Said(0, had[0], ""));
    for (taken = std::max<std::size_t>(1, taken); taken > 0; --taken) ++had[senders[place++]];
  }
  EXPECT_EQ(expected(reader_), said);
  EXPECT_TRUE(reader_.follows());
}

TEST_F(RoomCopyTest, AMemberWithAnotherOrderGoesOnAlone) {
  ahead(Said(2, 0));
  ahead(Said(1, 0));
  ahead(Said(2, 1));
  check(reader_, Said(1, 0));
  EXPECT_FALSE(reader_.follows());
  EXPECT_EQ(expected(reader_), (Numbers{0, 1, 0}));
  EXPECT_EQ(reader_.known(stream_).bytes, 0U);
  check(reader_, Said(2, 0));
  check(reader_, Said(2, 1));
  EXPECT_EQ(expected(reader_), (Numbers{0, 1, 2}));
}

TEST_F(RoomCopyTest, AMemberFarBehindGoesOnAloneFromWhereItIs) {
  ahead(Said(2, 0));
  ahead(Said(1, 0));
  EXPECT_EQ(reader_.known(stream_).messages, 2U);
  for (std::uint64_t i = 1; i < 100; ++i) ahead(Said(2, i));
  EXPECT_TRUE(leader_.follows());
  EXPECT_FALSE(reader_.follows());
  EXPECT_EQ(expected(reader_), (Numbers{0, 1, 1}));
  EXPECT_EQ(RoomCopy::Reader(copy_, 1, true).known(stream_).bytes, 0U);  // it joins too late
}

TEST_F(RoomCopyTest, AMemberThatKeepsUpFollowsForEver) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ahead(Said(2, i));
    EXPECT_EQ(reader_.known(stream_).messages, 1U);
    stream_.clear();
  }
  EXPECT_EQ(expected(reader_), (Numbers{0, 0, 1000}));
}

TEST_F(RoomCopyTest, AMessageLargerThanWhatIsKeptIsKept) {
  ahead(Said(2, 0, std::string(2 * kMostBytes, 'x')));
  EXPECT_EQ(reader_.known(stream_).messages, 1U);
}

}  // namespace
}  // namespace joust::broadcast

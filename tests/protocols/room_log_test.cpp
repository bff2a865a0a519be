// SPDX-License-Identifier: MIT
#include "protocols/broadcast/room_log.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>
#include <thread>

namespace joust::broadcast {
namespace {

constexpr Time kNow(std::chrono::hours(1));

// Everything a reader has not consumed, by its segments.
std::string waiting(const RoomLog::Reader& reader) {
  std::array<Segment, 64> segments;
  std::string all;
  for (std::size_t i = 0, count = reader.segments(segments); i < count; ++i)
    all += as_text(segments[i].bytes);
  return all;
}

std::string take(RoomLog::Reader& reader, std::size_t most) {
  const std::string taken = waiting(reader).substr(0, most);
  reader.consumed(taken.size());
  reader.released(taken.size());
  return taken;
}

TEST(RoomLog, ReadersGetWhatIsAppendedAfterTheyCame) {
  RoomLog log(1 << 20);
  log.append(as_bytes("before "), kNow);
  RoomLog::Reader early(log);
  log.append(as_bytes("one "), kNow);
  RoomLog::Reader late(log);
  log.append(as_bytes("two"), kNow);
  EXPECT_EQ(waiting(early), "one two");
  EXPECT_EQ(waiting(late), "two");
}

TEST(RoomLog, WaitingMessagesAreOneStretchOfMemory) {
  RoomLog log(1 << 20);
  RoomLog::Reader reader(log);
  for (int i = 0; i < 1000; ++i) log.append(as_bytes("a message of some length"), kNow);
  std::array<Segment, 4> segments;
  EXPECT_EQ(reader.segments(segments), 1U);
}

TEST(RoomLog, GoesOnAcrossChunksWhereverItIsCut) {
  RoomLog log(64 << 20);
  RoomLog::Reader reader(log);
  std::string all;
  for (int i = 0; i < 3000; ++i) {
    const std::string message(static_cast<std::size_t>(i) % 997 + 1, static_cast<char>('a' + i % 26));
    log.append(as_bytes(message), kNow);
    all += message;
  }
  std::string got;
  for (std::size_t n = 1; got.size() < all.size(); n = n * 7 % 10'007 + 1) got += take(reader, n);
  EXPECT_EQ(got, all);
  EXPECT_EQ(waiting(reader), "");
}

// What was shown stays where it is until it is released, whatever is appended.
TEST(RoomLog, ShownBytesStayUntilReleased) {
  RoomLog log(64 << 20);
  RoomLog::Reader reader(log);
  log.append(as_bytes("stays here"), kNow);
  Segment shown;
  ASSERT_EQ(reader.segments({&shown, 1}), 1U);
  const Bytes before = shown.bytes;
  reader.consumed(before.size());
  for (int i = 0; i < 100; ++i) log.append(as_bytes(std::string(100'000, 'x')), kNow);
  reader.consumed(50 * 100'000);
  EXPECT_EQ(as_text(before), "stays here");
  reader.released(before.size() + 50 * 100'000);
  EXPECT_EQ(waiting(reader).size(), 50 * 100'000U);
}

TEST(RoomLog, GivesUpWhoFallsBehindTheLimitAndNobodyElse) {
  RoomLog log(1 << 20);
  RoomLog::Reader slow(log);
  RoomLog::Reader quick(log);
  const std::string message(1000, 'm');
  for (int i = 0; i < 1040; ++i) {
    log.append(as_bytes(message), kNow);
    take(quick, message.size());
  }
  EXPECT_FALSE(slow.given_up());  // 1,040,000 bytes are within 1,048,576
  for (int i = 0; i < 10; ++i) {
    log.append(as_bytes(message), kNow);
    take(quick, message.size());
  }
  EXPECT_TRUE(slow.given_up());
  EXPECT_FALSE(quick.given_up());
  EXPECT_EQ(log.given_up(), 1U);
}

TEST(RoomLog, ConsumedIsNotYetReadAsFarAsMemoryGoes) {
  RoomLog log(1 << 20);
  RoomLog::Reader holder(log);
  const std::string message(100'000, 'm');
  for (int i = 0; i < 12; ++i) {
    log.append(as_bytes(message), kNow);
    holder.consumed(message.size());  // in flight, not released
  }
  EXPECT_TRUE(holder.given_up());
}

TEST(RoomLog, StopsWhereItWasTold) {
  RoomLog log(1 << 20);
  RoomLog::Reader reader(log);
  log.append(as_bytes("mine"), kNow);
  reader.stop_here();
  log.append(as_bytes(" not mine"), kNow);
  EXPECT_EQ(take(reader, 100), "mine");
  EXPECT_EQ(waiting(reader), "");
}

// A log of many chunks goes without recursion through all of them.
TEST(RoomLog, ALongLogGoesAtOnce) {
  RoomLog log(std::uint64_t{1} << 40);
  const auto reader = std::make_unique<RoomLog::Reader>(log);
  const std::string message(RoomLog::kLargest, 'm');
  for (int i = 0; i < 4000; ++i) log.append(as_bytes(message), kNow);
  EXPECT_EQ(log.given_up(), 0U);
}

TEST(RoomLog, ManyWritersAndAReaderBesideThem) {
  RoomLog log(256 << 20);
  RoomLog::Reader reader(log);
  constexpr int kWriters = 3, kMessages = 20'000;
  std::string got;
  {
    std::deque<std::jthread> writers;
    for (int w = 0; w < kWriters; ++w)
      writers.emplace_back([&log, w] {
        const std::string message(20, static_cast<char>('a' + w));
        for (int i = 0; i < kMessages; ++i) log.append(as_bytes(message), kNow);
      });
    while (got.size() < std::size_t{kWriters} * kMessages * 20) got += take(reader, 4096);
  }
  for (std::size_t at = 0; at < got.size(); at += 20)
    ASSERT_EQ(got.substr(at, 20), std::string(20, got[at])) << "torn at " << at;
}

}  // namespace
}  // namespace joust::broadcast

// SPDX-License-Identifier: MIT
#include "files/protocol/wire.hpp"

#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "files/protocol/messages.hpp"

namespace joust::file {
namespace {

Digest some_digest() {
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<std::byte>(i + 1);
  return digest;
}

FileWishes some_wishes() {
  return {.modified_ns = -3,
          .mode = 0640,
          .overwrites = true,
          .skips_existing = true,
          .makes_parents = true,
          .synced = true,
          .source = 77};
}

// One of every kind.
std::vector<Message> all_messages() {
  return {
      {1, Query{"some/name", true}},
      {2, Query{"", false}},
      {3, Fragment{{5, 7}, "name"}},
      {4, UploadRange{100, {10, 20}, 0x0123456789abcdef, some_digest(), true, "näme"}},
      {5, UploadRange{100, {10, 20}, 9, std::nullopt, false, "name"}},
      {6, Facts{1'000'000'000'000, -5, some_digest()}},
      {7, Facts{}},
      {7, Facts{1, 2, std::nullopt, 0755}},
      {13, UploadRange{100, {10, 20}, 9, std::nullopt, false, "name", true}},
      {14, Offer{100, 9, some_wishes(), "name"}},
      {15, Offer{100, 9, {}, "a/b"}},
      {16, Whole{100, some_digest(), some_wishes(), "name"}},
      {17, Whole{}},
      {18, Seal{100, 9, some_digest(), "name"}},
      {19, Offered{false, 5, 7}},
      {20, Offered{.skipped = true}},
      {21, Folder{0755, true, true, "a/b"}},
      {22, Folder{.name = "name"}},
      {22, Folder{.mode = 0500, .name = "name", .sets_mode = true}},
      {23, Stored{.complete = true, .was_there = true}},
      {8, Stored{{1, 2}, true, some_digest()}},
      {9, Stored{{1, 2}, false, std::nullopt}},
      {9, Stored{.range = {1, 2}, .request_check = 5}},
      {10, Working{77}},
      {11, End{77, some_digest()}},
      {12, Error{{FileError::exists, "there is one"}}},
      {24, List{"a/b"}},
      {25, List{}},
      {26, Entries{{{"file", false, 5, -7, 0640}, {"directory", true, 0, 9, 0755}}}},
      {27, Entries{}},
      {28, Listed{2, 3}},
      {UINT32_MAX, Error{{FileError::no_space, ""}}},
  };
}

std::string bytes_of_all() {
  std::string all;
  for (const Message& message : all_messages()) all += test::wire(message);
  return all;
}

TEST(FileWire, ReadsWhatItWrites) {
  const auto messages = all_messages();
  const auto heard = test::decode_all(bytes_of_all());
  ASSERT_EQ(heard.messages.size(), messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i)
    EXPECT_EQ(test::describe(heard.messages[i]), test::describe(messages[i]));
}

TEST(FileWire, HearsTheSameHoweverTheStreamIsCut) {
  const std::string all = bytes_of_all();
  const auto whole = test::decode_all(all);
  for (std::size_t cut = 1; cut < all.size(); ++cut)
    EXPECT_EQ(test::decode_all(all, {cut}).text(), whole.text()) << cut;
  EXPECT_EQ(test::decode_all(all, std::vector<std::size_t>(all.size(), 1)).text(), whole.text());
}

// The bytes themselves, as docs/file-protocol.md has them.
TEST(FileWire, IsWhatTheDocumentSays) {
  const std::string expected(
      "\x02\x02\x00\x00\x00\x00\x00\x07\x00\x00\x00\x14"
      "\x5e\x56\x17\x2f"
      "\x00\x00\x00\x00\x00\x00\x00\x05"
      "\x00\x00\x00\x01\x00\x00\x00\x00"
      "\x00\x02"
      "ab"
      "\xc9\xf9\xd6\xf4\x9f\xda\xc7\x71",
      16 + 20 + 8);
  EXPECT_EQ(test::wire({7, Fragment{{5, std::uint64_t{1} << 32}, "ab"}}), expected);
  EXPECT_EQ(test::wire({7, Data{0x40000}}), std::string("\x02\x20\x00\x00\x00\x00\x00\x07\x00\x04\x00\x00"
                                                        "\x0e\x24\x22\x5b",
                                                        16));
}

FileError violation_of(const std::string& bytes) {
  return test::decode_all(bytes).violation.value_or(FileError::none);
}

// With the first frame, whatever comes behind it: nothing waits for bytes that a wrong size announces.
TEST(FileWire, RefusesEveryFlippedBit) {
  std::vector<Message> messages = all_messages();
  messages.push_back({24, Data{5}});
  for (const Message& message : messages) {
    const std::string frame = test::wire(message);
    for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
      std::string flipped = frame;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      const auto heard = test::decode_all(flipped);
      EXPECT_TRUE(heard.messages.empty()) << test::describe(message) << ", bit " << bit;
      EXPECT_EQ(heard.violation, bit < 8 ? FileError::version : FileError::damaged)
          << test::describe(message) << ", bit " << bit;
    }
  }
}

// A body belongs to its head: that of another request is none.
TEST(FileWire, RefusesABodyOfAnotherFrame) {
  const std::string one = test::wire({1, Query{"name", false}}),
                    other = test::wire({2, Query{"name", false}});
  EXPECT_EQ(violation_of(one.substr(0, kHeadBytes) + other.substr(kHeadBytes)), FileError::damaged);
}

// So the sender knows that it is its request that was done.
TEST(FileWire, TellsBothSidesTheSameCheck) {
  for (const Message& message : all_messages()) {
    const auto frame = encode(message);
    const auto heard = test::decode_all(as_text(frame));
    ASSERT_EQ(heard.messages.size(), 1U);
    EXPECT_EQ(heard.messages[0].check, check_of(frame));
  }
  const auto heard = test::decode_all(test::wire({1, Stored{.request_check = 0x0123456789abcdef}}));
  EXPECT_EQ(std::get<Stored>(heard.messages.at(0).body).request_check, 0x0123456789abcdefU);
}

TEST(FileWire, RefusesWhatItCannotFollow) {
  const std::string query = test::wire({1, Query{"name", false}});
  std::string changed = query;
  changed[1] = 99;
  EXPECT_EQ(violation_of(test::with_checks(changed)), FileError::malformed);
  changed = query;
  changed[kHeadBytes + 1] = 100;  // a name longer than the frame
  EXPECT_EQ(violation_of(test::with_checks(changed)), FileError::malformed);
  EXPECT_EQ(violation_of(test::wire({1, Fragment{{UINT64_MAX, 2}, "name"}})), FileError::malformed);
  EXPECT_EQ(violation_of(test::wire({1, Fragment{{2, UINT64_MAX}, "name"}})), FileError::malformed);
  EXPECT_EQ(violation_of(test::wire({1, Data{kLargestData + 1}})), FileError::malformed);
  EXPECT_EQ(violation_of(test::wire({1, Data{kLargestData}})), FileError::none);
}

// Frames of other versions may be shorter than a head of this one.
TEST(FileWire, RefusesAnotherVersionAtItsFirstByte) {
  for (const char version : {'\1', '\3', 'H'}) EXPECT_EQ(violation_of({version}), FileError::version);
}

// The size is refused with the head: nothing is kept for a body that would be too large.
TEST(FileWire, KeepsNothingForASizeThatIsOnlyClaimed) {
  const auto head_for = [](std::uint32_t size) {
    std::string head = test::wire({1, Query{"n", false}}).substr(0, kHeadBytes);
    write_big_endian(size, reinterpret_cast<std::byte*>(head.data()) + 8);
    return test::with_checks(head);
  };
  for (const std::uint32_t size : {std::uint32_t{kLargestBody + 1}, UINT32_MAX})
    EXPECT_EQ(violation_of(head_for(size)), FileError::malformed);
  const std::string head = head_for(kLargestBody);
  Decoder decoder;
  ASSERT_TRUE(decoder.next(as_bytes(head)));
  EXPECT_LE(decoder.held_bytes(), 64U);
}

// Nor for entries.
TEST(FileWire, RefusesEntriesThatAreOnlyClaimed) {
  std::string part = test::wire({1, Entries{{{"file", false, 5, -7, 0640}}}});
  part[kHeadBytes] = part[kHeadBytes + 1] = '\xff';
  EXPECT_EQ(violation_of(test::with_checks(part)), FileError::malformed);
}

// Room to grow: flags and fields of a later version are passed over.
TEST(FileWire, PassesOverWhatALaterVersionAdds) {
  std::string query = test::wire({1, Query{"name", false}});
  query.insert(query.size() - kCheckBytes, "more");
  query[2] = '\x80';
  write_big_endian(static_cast<std::uint32_t>(query.size() - kHeadBytes - kCheckBytes),
                   reinterpret_cast<std::byte*>(query.data()) + 8);
  const auto heard = test::decode_all(test::with_checks(query) + test::wire({2, Working{1}}));
  ASSERT_EQ(heard.messages.size(), 2U);
  EXPECT_EQ(std::get<Query>(heard.messages[0].body).name, "name");
}

}  // namespace
}  // namespace joust::file

// SPDX-License-Identifier: MIT
#include "protocols/file/wire.hpp"

#include <gtest/gtest.h>

#include "base/endian.hpp"
#include "protocols/file_messages.hpp"

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
      {10, Working{77}},
      {11, End{77, some_digest()}},
      {12, Error{{FileError::exists, "there is one"}}},
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
      "\x01\x02\x00\x00\x00\x00\x00\x07\x00\x00\x00\x14"
      "\x00\x00\x00\x00\x00\x00\x00\x05"
      "\x00\x00\x00\x01\x00\x00\x00\x00"
      "\x00\x02"
      "ab",
      12 + 20);
  EXPECT_EQ(test::wire({7, Fragment{{5, std::uint64_t{1} << 32}, "ab"}}), expected);
  EXPECT_EQ(test::wire({7, Data{0x40000}}),
            std::string("\x01\x20\x00\x00\x00\x00\x00\x07\x00\x04\x00\x00", 12));
}

FileError violation_of(std::string bytes) {
  return test::decode_all(bytes).violation.value_or(FileError::none);
}

TEST(FileWire, RefusesWhatItCannotFollow) {
  const std::string query = test::wire({1, Query{"name", false}});
  std::string changed = query;
  changed[0] = 2;
  EXPECT_EQ(violation_of(changed), FileError::version);
  changed = query;
  changed[1] = 99;
  EXPECT_EQ(violation_of(changed), FileError::malformed);
  changed = query;
  changed[kHeadBytes + 1] = 100;  // a name longer than the frame
  EXPECT_EQ(violation_of(changed), FileError::malformed);
  EXPECT_EQ(violation_of(test::wire({1, Fragment{{UINT64_MAX, 2}, "name"}})), FileError::malformed);
  EXPECT_EQ(violation_of(test::wire({1, Fragment{{2, UINT64_MAX}, "name"}})), FileError::malformed);
  EXPECT_EQ(violation_of(test::wire({1, Data{kLargestData + 1}})), FileError::malformed);
  EXPECT_EQ(violation_of(test::wire({1, Data{kLargestData}})), FileError::none);
}

// The size is refused with the head: nothing is kept for a body that would be too large.
TEST(FileWire, KeepsNothingForASizeThatIsOnlyClaimed) {
  for (const std::uint32_t size : {std::uint32_t{kLargestBody + 1}, UINT32_MAX}) {
    std::string head = test::wire({1, Query{"n", false}}).substr(0, kHeadBytes);
    write_big_endian(size, reinterpret_cast<std::byte*>(head.data()) + 8);
    EXPECT_EQ(violation_of(head), FileError::malformed);
  }
  std::string head = test::wire({1, Query{"n", false}}).substr(0, kHeadBytes);
  write_big_endian(std::uint32_t{kLargestBody}, reinterpret_cast<std::byte*>(head.data()) + 8);
  Decoder decoder;
  ASSERT_TRUE(decoder.next(as_bytes(head)));
  EXPECT_LE(decoder.held_bytes(), 64U);
}

// Room to grow: flags and fields of a later version are passed over.
TEST(FileWire, PassesOverWhatALaterVersionAdds) {
  std::string query = test::wire({1, Query{"name", false}}) + "more";
  query[2] = '\x80';
  write_big_endian(static_cast<std::uint32_t>(query.size() - kHeadBytes),
                   reinterpret_cast<std::byte*>(query.data()) + 8);
  const auto heard = test::decode_all(query + test::wire({2, Working{1}}));
  ASSERT_EQ(heard.messages.size(), 2U);
  EXPECT_EQ(std::get<Query>(heard.messages[0].body).name, "name");
}

}  // namespace
}  // namespace joust::file

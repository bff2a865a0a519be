// SPDX-License-Identifier: MIT
//
// The quota of servers whose sessions live in different processes.
#include <gtest/gtest.h>

#include <array>
#include <csignal>

#include "files/store/forked.hpp"
#include "files/store/partial_fixture.hpp"

namespace joust {
namespace {

using test::Forked;
using test::text_of;

constexpr std::uint64_t kLimit = 64 << 20;  // bytes

class ForkedQuota : public test::PartialUploadTest {
 protected:
  ForkedQuota() { storage({.most_stored = kLimit}); }

  std::uint64_t used() { return kLimit - storage().quota().left(); }
  std::uint64_t whole() const { return text_.size() + kEntryBytes; }

  enum class End : std::uint8_t { itself, killed };

  // In a process of its own, which goes on with "new" up to `to`.
  void goes_on_elsewhere(std::uint64_t to, End end = End::itself) {
    const Forked other([&] {
      auto upload = begin(to);  // each attempt has an id of its own
      upload_text(*upload, recall(*upload).verified, to);
      if (to == text_.size() && !seal(*upload)) return 1;
      if (end == End::killed) ::raise(SIGKILL);
      return 0;
    });
    EXPECT_EQ(other.end(), end == End::killed ? SIGKILL : 0);
  }

  // Begins a file that does not outlive its process, with so many bytes. 0, or the error.
  int begins_whole(std::uint64_t size, End end = End::itself) {
    const auto upload =
        storage().upload({.name = "whole", .size = size, .id = static_cast<std::uint64_t>(::getpid())});
    if (!upload) return static_cast<int>(upload.error().error);
    if (!(*upload)->take({0, size})) return 1;
    const auto room = (*upload)->make_room({0, size});
    if (room && end == End::killed) ::raise(SIGKILL);
    return room ? 0 : static_cast<int>(room.error().error);
  }
};

TEST_F(ForkedQuota, CountsAFileOnceHoweverManyProcessesSendIt) {
  for (const std::uint64_t to : {1, 2, 4, 5}) goes_on_elsewhere(to * kMiB);
  EXPECT_EQ(used(), 5 * kMiB + 2 * kEntryBytes) << "what stays on the disk stays in the quota";
  goes_on_elsewhere(text_.size());
  EXPECT_TRUE(text_of(path("new")) == text_);
  EXPECT_EQ(used(), whole());
}

// The process may serve its connection for long.
TEST_F(ForkedQuota, CountsAFileOnceWhileTheProcessLivesThatBeganIt) {
  std::array<int, 2> begun{}, end{};
  ASSERT_TRUE(::pipe(begun.data()) == 0 && ::pipe(end.data()) == 0);
  const Forked first([&] {
    auto upload = begin();
    recall(*upload);
    upload_text(*upload, 0, 4 * kMiB);
    upload.reset();
    ::close(begun[0]), ::close(begun[1]), ::close(end[1]);
    char none = 0;
    return static_cast<int>(::read(end[0], &none, 1));
  });
  ::close(begun[1]);
  char none = 0;
  EXPECT_EQ(::read(begun[0], &none, 1), 0);
  goes_on_elsewhere(text_.size());
  EXPECT_EQ(used(), whole());
  ::close(begun[0]), ::close(end[0]), ::close(end[1]);
  EXPECT_EQ(first.exit_code(), 0);
}

TEST_F(ForkedQuota, HasBackWhatAProcessWithAnotherSourceLeft) {
  goes_on_elsewhere(4 * kMiB);
  text_.resize(2 * kMiB);
  goes_on_elsewhere(text_.size());
  EXPECT_EQ(used(), whole());
}

TEST_F(ForkedQuota, CountsAFileOnceAlthoughItsProcessesAreKilled) {
  for (const std::uint64_t to : {1, 2, 4, 5}) goes_on_elsewhere(to * kMiB, End::killed);
  goes_on_elsewhere(text_.size());
  EXPECT_TRUE(text_of(path("new")) == text_);
  EXPECT_EQ(used(), whole());
}

TEST_F(ForkedQuota, HasBackWhatWentWithAProcessThatWasKilled) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Forked crashing([&] { return begins_whole(kLimit / 4 * 3, End::killed); });
    EXPECT_EQ(crashing.end(), SIGKILL);
  }
  const Forked after([&] { return begins_whole(kLimit - kEntryBytes); });
  EXPECT_EQ(after.exit_code(), 0);
  EXPECT_EQ(used(), 0U);
}

// Its folders are asked for in other processes too.
TEST_F(ForkedQuota, HasRoomForAFolderAfterAProcessThatWasKilled) {
  const Forked crashing([&] { return begins_whole(kLimit - kEntryBytes, End::killed); });
  EXPECT_EQ(crashing.end(), SIGKILL);
  const Forked after([&] { return storage().make_folder("folder", {.mode = 0755}) ? 0 : 1; });
  EXPECT_EQ(after.exit_code(), 0);
  EXPECT_EQ(used(), kEntryBytes);
}

// One that lives keeps what it has, whoever looks.
TEST_F(ForkedQuota, LeavesTheLivingWhatTheyHave) {
  const Forked both([&] {
    const auto mine = storage().upload({.name = "mine", .size = kMiB, .id = 1});
    if (!mine || !(*mine)->take({0, kMiB}) || !(*mine)->make_room({0, kMiB})) return 1;
    const Forked other([&] { return begins_whole(kLimit - kEntryBytes); });
    if (other.exit_code() != static_cast<int>(FileError::no_space)) return 2;
    return used() == kMiB + kEntryBytes ? 0 : 3;
  });
  EXPECT_EQ(both.exit_code(), 0);
  EXPECT_EQ(used(), 0U);
}

TEST_F(ForkedQuota, GoesOnWhereNoPlaceIsLeft) {
  Quota quota(kLimit);
  const Forked greedy([&] {
    while (quota.place_for("kept") != nullptr) {
    }
    const auto share = QuotaShare::begin(quota, kMiB, "new");
    return share && (*share)->take({0, kMiB}) && quota.left() == kLimit - kMiB - 2 * kEntryBytes ? 0 : 1;
  });
  EXPECT_EQ(greedy.exit_code(), 0);
  EXPECT_EQ(quota.left(), kLimit);
}

}  // namespace
}  // namespace joust

// SPDX-License-Identifier: MIT
//
// Sets of ranges, and the room that uploads may take, all together and step by step.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "failing_calls.hpp"
#include "files/store/disk/group_commit.hpp"
#include "files/store/quota.hpp"
#include "files/store/storage_fixture.hpp"

namespace joust {
namespace {

TEST(RangeSet, RefusesWhatOverlapsAndWhatIsEmpty) {
  RangeSet set;
  EXPECT_TRUE(set.insert(10, 20));
  EXPECT_FALSE(set.insert(19, 25));
  EXPECT_FALSE(set.insert(5, 11));
  EXPECT_FALSE(set.insert(12, 13));
  EXPECT_FALSE(set.insert(0, 100));
  EXPECT_FALSE(set.insert(30, 30));
  EXPECT_TRUE(set.insert(20, 25));
  EXPECT_TRUE(set.insert(5, 10));
  EXPECT_EQ(set.pieces(), 1U);
}

TEST(RangeSet, GivesBackAPartOfWhatHasGrownTogether) {
  RangeSet set;
  EXPECT_TRUE(set.insert(0, 10));
  EXPECT_TRUE(set.insert(10, 20));
  EXPECT_TRUE(set.insert(20, 30));
  set.erase(10, 20);
  EXPECT_EQ(set.pieces(), 2U);
  EXPECT_FALSE(set.insert(9, 12));
  EXPECT_TRUE(set.insert(10, 20));
  EXPECT_EQ(set.pieces(), 1U);
}

TEST(RangeSet, KnowsWhereAStretchEnds) {
  RangeSet set;
  EXPECT_EQ(set.end_of(5), 5U);
  EXPECT_TRUE(set.insert(10, 20));
  EXPECT_TRUE(set.insert(20, 25));
  EXPECT_EQ(set.end_of(5), 5U);
  EXPECT_EQ(set.end_of(10), 25U);
  EXPECT_EQ(set.end_of(24), 25U);
  EXPECT_EQ(set.end_of(25), 25U);
  EXPECT_EQ(set.end_of(30), 30U);
}

TEST(RangeSet, HoldsToTheLastNumber) {
  RangeSet set;
  EXPECT_TRUE(set.insert(UINT64_MAX - 1, UINT64_MAX));
  EXPECT_FALSE(set.insert(0, UINT64_MAX));
  EXPECT_TRUE(set.insert(0, UINT64_MAX - 1));
}

// Against a plain array of taken places.
TEST(RangeSet, KnowsWhatATableKnows) {
  std::minstd_rand random(1);
  std::vector<std::pair<unsigned, unsigned>> held;
  std::vector<bool> table(64);
  RangeSet set;
  for (int i = 0; i < 20'000; ++i) {
    if (!held.empty() && random() % 2 == 0) {
      const std::size_t which = random() % held.size();
      set.erase(held[which].first, held[which].second);
      std::fill(table.begin() + held[which].first, table.begin() + held[which].second, false);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const auto begin = static_cast<unsigned>(random() % 60);
    const auto end = begin + 1 + static_cast<unsigned>(random() % 4);
    const bool is_free = std::find(table.begin() + begin, table.begin() + end, true) == table.begin() + end;
    ASSERT_EQ(set.insert(begin, end), is_free);
    if (!is_free) continue;
    std::fill(table.begin() + begin, table.begin() + end, true);
    held.emplace_back(begin, end);
  }
}

// Stretches that overlap, against a plain array.
TEST(RangeSet, CoversWhatOverlaps) {
  std::minstd_rand random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<bool> table(64);
    RangeSet set;
    for (int i = 0; i < 20; ++i) {
      const auto begin = static_cast<unsigned>(random() % 64);
      const auto end = begin + static_cast<unsigned>(random() % std::min(8U, 65 - begin));
      const auto there = std::count(table.begin() + begin, table.begin() + end, true);
      ASSERT_EQ(set.covered(begin, end), static_cast<std::uint64_t>(there));
      set.cover(begin, end);
      std::fill(table.begin() + begin, table.begin() + end, true);
      std::size_t pieces = table[0];
      for (std::size_t at = 1; at < table.size(); ++at) pieces += table[at] && !table[at - 1];
      ASSERT_EQ(set.pieces(), pieces);
    }
  }
}

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Quota, IsTakenAndGivenBack) {
  Quota quota(100);
  EXPECT_TRUE(quota.take(60));
  EXPECT_FALSE(quota.take(41));
  EXPECT_EQ(quota.left(), 40U);
  EXPECT_TRUE(quota.take(40));
  quota.give_back(100);
  EXPECT_EQ(quota.left(), 100U);
  EXPECT_FALSE(quota.take(101));
  EXPECT_FALSE(Quota(UINT64_MAX).take(UINT64_MAX));
}

// Large files that were there before the server began may be replaced by small ones.
TEST(Quota, GrowsByWhatWasThereBefore) {
  Quota quota(100);
  quota.give_back(50);
  EXPECT_EQ(quota.left(), 150U);
  EXPECT_TRUE(quota.take(150));
}

// In each way of writing.
class UploadQuota : public test::StorageTest, public testing::WithParamInterface<FileWrite> {
 protected:
  FileAnswer<std::shared_ptr<Upload>> begin(std::string_view name, std::uint64_t size, bool dry_run = false) {
    auto upload = storage().upload({.name = name, .size = size, .id = 1, .dry_run = dry_run});
    EXPECT_TRUE(!upload || (*upload)->take({0, size}));
    return upload;
  }
  // All of a file of zeros; the error, or none.
  FileError upload_text(std::string_view name, std::uint64_t size, bool dry_run = false) {
    const auto upload = begin(name, size, dry_run);
    if (!upload) return upload.error().error;
    test::store(**upload, std::string(size, '\0'), {0, size});
    EXPECT_TRUE((*upload)->finish({0, size}));
    const auto checked = test::check(**upload);
    return checked ? FileError::none : checked.error().error;
  }
  // Makes room for a MiB and writes it, until that fails or all is there; the error, or none.
  static FileError fill(Upload& upload, std::uint64_t size) {
    const std::string bytes(kMiB, 'x');
    for (std::uint64_t offset = 0; offset < size; offset += kMiB) {
      if (const auto room = upload.make_room({offset, kMiB}); !room) return room.error().error;
      if (const auto n = upload.file().write_at(offset, as_bytes(bytes)); !n) return error_of(n.error());
    }
    return FileError::none;
  }
  std::uint64_t left() { return storage().quota().left(); }
  // Bytes that the file in the making takes on the disk.
  std::uint64_t allocated() const {
    for (const auto& entry : std::filesystem::directory_iterator(path(".")))
      if (entry.path().filename().string().starts_with(".joust-")) {
        struct stat facts {};
        EXPECT_EQ(::stat(entry.path().c_str(), &facts), 0);
        return static_cast<std::uint64_t>(facts.st_blocks) * 512;
      }
    ADD_FAILURE() << "no file is in the making";
    return 0;
  }
};

using QuotaOfOneName = test::StorageTest;

const auto kWays = testing::Values(FileWrite::write, FileWrite::splice, FileWrite::mmap, FileWrite::writev);

std::string name_of(const testing::TestParamInfo<FileWrite>& tested) {
  return std::array{"write", "splice", "mmap", "writev"}[static_cast<std::size_t>(tested.param)];
}

INSTANTIATE_TEST_SUITE_P(Ways, UploadQuota, kWays, name_of);

TEST_P(UploadQuota, IsForAllThatIsPublished) {
  storage({.most_stored = 10 * kMiB, .write = GetParam()});
  EXPECT_EQ(upload_text("a", 6 * kMiB), FileError::none);
  const auto refused = begin("b", 6 * kMiB);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error, FileError::no_space);
  EXPECT_EQ(refused.error().text, "6295552 bytes are wanted, and 4190208 of the server's 10485760 are left");
  EXPECT_EQ(upload_text("c", 3 * kMiB), FileError::none);
}

TEST_P(UploadQuota, IsTakenAsBytesComeAndNeverExceeded) {
  storage({.most_stored = 10 * kMiB, .write = GetParam()});
  const auto one = begin("a", 6 * kMiB), other = begin("b", 6 * kMiB);
  ASSERT_TRUE(one && other) << "as long as nothing has come, each of them fits";
  EXPECT_GT(left(), 9 * kMiB);
  EXPECT_EQ(fill(**one, 4 * kMiB), FileError::none);
  EXPECT_EQ(fill(**other, 5 * kMiB), FileError::none);
  EXPECT_TRUE((*one)->make_room({0, 4 * kMiB})) << "the upload has this room already";
  const auto refused = (*one)->make_room({4 * kMiB, kMiB});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error, FileError::no_space);
  EXPECT_EQ(refused.error().text, "1048576 bytes are wanted, and 1040384 of the server's 10485760 are left");
}

TEST_P(UploadQuota, IsFreeAgainWhenAnUploadIsOver) {
  storage({.existing = Existing::replace, .most_stored = 10 * kMiB, .write = GetParam()});
  const std::uint64_t before = left();
  {
    const auto abandoned = begin("a", 6 * kMiB);
    EXPECT_EQ(fill(**abandoned, 4 * kMiB), FileError::none);
    (*abandoned)->stored({0, 4 * kMiB}, {});
    (*abandoned)->give_back({0, 6 * kMiB});
    EXPECT_LT(left(), 6 * kMiB) << "its bytes are on the disk still";
  }
  for (int ms = 0; ms < 10'000 && left() < before; ++ms)  // the worker may be in the middle of its digest
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(left(), before);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(upload_text("a", 4 * kMiB, true), FileError::none);
  EXPECT_EQ(left(), before) << "a dry run is thrown away";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(upload_text("a", 4 * kMiB), FileError::none);
  EXPECT_EQ(left(), before - 4 * kMiB - kEntryBytes) << "each file replaces the one before";
}

TEST_P(UploadQuota, IsNotKeptForBytesThatWereOnlyAnnounced) {
  const test::Failing named(test::Call::nameless, EOPNOTSUPP);
  storage({.most_stored = 10 * kMiB, .write = GetParam()});
  const auto upload = begin("a", 6 * kMiB);
  const std::uint64_t before = left();
  ASSERT_TRUE((*upload)->make_room({0, 4 * kMiB}));
  (*upload)->stored({0, 1}, {});
  (*upload)->give_back({0, 6 * kMiB});
  EXPECT_GE(left() + 4096, before);
  EXPECT_LE(allocated(), 4096U);
  EXPECT_TRUE((*upload)->make_room({0, 4 * kMiB})) << "they may come after all";
  EXPECT_LE(left(), before - 4 * kMiB);
}

TEST_P(UploadQuota, LeavesSomeOfTheDiskUnlessItIsGiven) {
  storage({.write = GetParam()});
  EXPECT_GT(left(), 0U);
  EXPECT_LE(left(), std::filesystem::space(path(".")).capacity / 10 * 9);
}

TEST_P(UploadQuota, CountsFilesWithoutBytesToo) {
  storage({.most_stored = 3 * kEntryBytes, .write = GetParam()});
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(upload_text(name, 0), FileError::none);
  EXPECT_EQ(upload_text("d", 0), FileError::no_space);
}

TEST_P(UploadQuota, AnAnnouncedSizeAloneTakesNoRoomOnTheDisk) {
  const test::Failing named(test::Call::nameless, EOPNOTSUPP);
  storage({.write = GetParam()});
  const auto upload = begin("a", 200 * kMiB);
  ASSERT_TRUE(upload);
  EXPECT_LT(allocated(), kMiB);
  EXPECT_TRUE((*upload)->make_room({100 * kMiB, 4 * kMiB}));
  EXPECT_LT(allocated(), 5 * kMiB);
}

// Each file is counted off once, by the upload that replaces it.
TEST_F(QuotaOfOneName, CountsOffEachFileOnceWhereUploadsFinishTogether) {
  constexpr std::uint64_t kThreads = 4, kRounds = 400;
  DirectoryTree tree(folder_.file("root"));
  std::mutex mutex;
  std::multiset<std::uint64_t> replaced;
  std::barrier together(kThreads);
  const auto publish = [&](std::uint64_t thread) {
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const auto file = tree.create("old", {.existing = Existing::replace}).value();
      const auto own_size = static_cast<off_t>(100 + round * kThreads + thread);
      EXPECT_EQ(::ftruncate(file->descriptor().get(), own_size), 0);
      together.arrive_and_wait();
      const auto size = joust::publish(*file, file->descriptor().get(), false);
      const std::lock_guard lock(mutex);
      replaced.insert(size.value().value());
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) threads.emplace_back(publish, i);
  }
  for (const std::uint64_t size : replaced) ASSERT_EQ(replaced.count(size), 1U) << size << " bytes";
}

// A file system of 8 MiB, which a test may fill.
class FullDisk : public UploadQuota {
 protected:
  void SetUp() override {
    if (::mount("joust", path("sub").c_str(), "tmpfs", 0, "size=8m") != 0)
      GTEST_SKIP() << "mounting a small file system: " << std::strerror(errno);
    mounted_ = true;
    storage({.most_stored = 100 * kMiB, .write = GetParam()});
  }
  void TearDown() override {
    storage_.reset();
    EXPECT_EQ(mounted_ ? ::umount2(path("sub").c_str(), MNT_DETACH) : 0, 0);
  }
  bool mounted_ = false;
};

INSTANTIATE_TEST_SUITE_P(Ways, FullDisk, kWays, name_of);

TEST_P(FullDisk, RefusesAFileThatIsTooLargeBeforehand) {
  const auto refused = storage().upload({.name = "sub/new", .size = 9 * kMiB, .id = 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error, FileError::no_space);
  EXPECT_EQ(refused.error().text, "9.00 MiB are needed, but only 8.00 MiB are available (the file system)");
  EXPECT_TRUE(storage().upload({.name = "sub/new", .size = 7 * kMiB, .id = 2}));
}

// A write to a mapping would end the process.
TEST_P(FullDisk, EndsAnUploadInTheMiddleAndNotTheServer) {
  auto one = begin("sub/one", 6 * kMiB), other = begin("sub/other", 6 * kMiB);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(fill(**one, 6 * kMiB), FileError::none);
  EXPECT_EQ(fill(**other, 6 * kMiB), FileError::no_space);
  one->reset(), other->reset();
  EXPECT_EQ(entries("sub"), 0U) << "nothing is left of uploads that are given up";
}

}  // namespace

}  // namespace joust

// SPDX-License-Identifier: MIT
//
// Digests that a thread of its own makes, and digests that are remembered: only where a later change of the
// bytes shows in the time stamps.
#include "files/store/file_digest.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <future>
#include <thread>

#include "files/store/storage_fixture.hpp"

namespace joust {
namespace {

TEST(BackgroundThread, DoesOneThingAfterTheOther) {
  std::string done;
  std::promise<void> all;
  BackgroundThread worker;
  for (const char name : {'a', 'b', 'c'}) EXPECT_TRUE(worker.take([&done, name] { done += name; }));
  EXPECT_TRUE(worker.take([&all] { all.set_value(); }));
  all.get_future().wait();
  EXPECT_EQ(done, "abc");
}

TEST(BackgroundThread, FinishesWhatItHasBegunAndDropsTheRest) {
  std::promise<void> begun, go_on;
  bool finished = false, dropped = true;
  std::thread later;
  {
    BackgroundThread worker;
    worker.take([&] {
      begun.set_value();
      go_on.get_future().wait();
      finished = true;
    });
    worker.take([&] { dropped = false; });
    begun.get_future().wait();
    later = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      go_on.set_value();
    });
  }
  later.join();
  EXPECT_TRUE(finished);
  EXPECT_TRUE(dropped);
}

class DigestingBeside : public test::StorageTest {
 protected:
  static constexpr std::size_t kBytes = 24 << 20;
  const std::string text_ = std::string(kBytes / 2, 'x') + std::string(kBytes / 2, 'y');

  // In pieces, as the kernel moves them past us.
  static void upload_text(Upload& upload, const std::string& text, std::uint64_t bytes = kBytes) {
    for (std::uint64_t at = 0; at < bytes; at += 1 << 19) test::store(upload, text, {at, 1 << 19}, false);
  }
};

// Whoever waits for the digest and the worker meet in the middle, again and again.
TEST_F(DigestingBeside, ComesToTheSameDigest) {
  // Each with its own number: the worker may still hold the one before.
  for (std::uint64_t id = 1; id <= 5; ++id) {
    auto upload = storage({.existing = Existing::replace}).upload({.name = "new", .size = kBytes, .id = id});
    ASSERT_TRUE(upload && (*upload)->take({0, kBytes}));
    upload_text(**upload, text_);
    ASSERT_TRUE((*upload)->finish({0, kBytes}));
    EXPECT_EQ(test::check(**upload)->digest, test::digest_of(text_));
  }
}

TEST_F(DigestingBeside, AnUploadThatIsGivenUpLeavesNothing) {
  auto upload = storage().upload({.name = "new", .size = kBytes});
  ASSERT_TRUE(upload && (*upload)->take({0, kBytes}));
  upload_text(**upload, text_, kBytes / 2);
  upload->reset();
  storage_.reset();  // which waits for the worker
  EXPECT_EQ(entries(), 2U);
}

TEST_F(DigestingBeside, ForgetsWhatWasGivenBack) {
  auto upload = storage().upload({.name = "new", .size = kBytes});
  ASSERT_TRUE(upload && (*upload)->take({0, kBytes}));
  upload_text(**upload, std::string(kBytes, '?'), kBytes / 2);
  (*upload)->give_back({0, kBytes});
  ASSERT_TRUE((*upload)->take({0, kBytes}));
  upload_text(**upload, text_);
  ASSERT_TRUE((*upload)->finish({0, kBytes}));
  EXPECT_EQ(test::check(**upload)->digest, test::digest_of(text_));
}

using test::digest_of;

class DigestCache : public test::StorageTest {
 protected:
  void write(const std::string& text, const std::string& name = "file") const {
    std::ofstream(path(name)) << text;
  }
  // Two writes of one size: what is remembered between them must not be told after the second.
  void expect_no_stale_digest(const std::string& name) {
    write("first", name);
    const auto file = storage().open(name);
    ASSERT_TRUE(file);
    storage().remember(*file, digest_of("first"));
    EXPECT_FALSE(storage().open(name)->digest) << "a further write may leave the same time stamps";
    write("other", name);
    EXPECT_FALSE(storage().open(name)->digest);
  }
};

TEST_F(DigestCache, HasNoDigestOfAFileThatHasJustBeenWritten) {
  expect_no_stale_digest("file");
}

// Since Linux 6.13 some file systems give a change its own time stamp once somebody has looked at the file;
// ramfs takes all stamps from a clock that ticks every few milliseconds.
TEST_F(DigestCache, IsNotStaleAfterTwoWritesWithinOneTick) {
  if (::mount("joust", path("sub").c_str(), "ramfs", 0, nullptr) != 0)
    GTEST_SKIP() << "mounting a file system: " << std::strerror(errno);
  bool same_tick = false;
  for (int attempt = 0; attempt < 1000 && !same_tick; ++attempt) {
    write("first", "sub/file");
    const FileVersion first = storage().open("sub/file")->version;
    expect_no_stale_digest("sub/file");
    same_tick = storage().open("sub/file")->version == first;
  }
  storage_.reset();
  EXPECT_EQ(::umount2(path("sub").c_str(), MNT_DETACH), 0);
  EXPECT_TRUE(same_tick) << "every write had its own time stamp";
}

TEST_F(DigestCache, BeginsWhenTheLastChangeIsAStepOfTheClockAgo) {
  storage({.timestamp_step = std::chrono::milliseconds(50)});
  write("first");
  for (auto file = storage().open("file"); !file->digest; file = storage().open("file")) {
    storage().remember(*file, digest_of("first"));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(storage().open("file")->digest, digest_of("first"));
  write("newer");
  EXPECT_FALSE(storage().open("file")->digest);
}

TEST_F(DigestCache, TakesTheDigestsOfSamplesAtOnce) {
  storage().add_sample("sample", generated_file(100));
  storage().remember(*storage().open("sample"), digest_of("whatever"));
  EXPECT_EQ(storage().open("sample")->digest, digest_of("whatever"));
}

}  // namespace

}  // namespace joust

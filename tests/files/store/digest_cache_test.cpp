// SPDX-License-Identifier: MIT
//
// A digest is remembered only where a later change of the bytes shows in the time stamps.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "files/store/storage_fixture.hpp"

namespace joust {
namespace {

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

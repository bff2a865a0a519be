// SPDX-License-Identifier: MIT
#include "files/store/file_digest.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace joust

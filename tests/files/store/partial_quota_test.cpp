// SPDX-License-Identifier: MIT
//
// Resumable uploads in the quota, and the descriptors that uploads have: how many of them a limit allows.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "files/store/partial_fixture.hpp"
#include "files/store/storage_fixture.hpp"
#include "files/store/upload/tree_storage.hpp"

namespace joust {
namespace {

using test::digest_of;
using test::text_of;

class PartialQuota : public test::PartialUploadTest {
 protected:
  // Begins a file, or goes on with it, and breaks off a MiB later. Returns how many bytes were there before.
  std::uint64_t interrupt(const std::string& name, PeerAddress from = PeerAddress::unknown) {
    UploadRequest request = this->request();
    request.name = name;
    request.from.address = from;
    auto upload = storage().upload(request).value();
    const std::uint64_t there = resume(*upload).verified;
    upload_text(*upload, there, there + kMiB);
    return there;
  }
};

// What stays on the disk stays in the quota, and counts once when it is gone on with.
TEST_F(PartialQuota, CountsOnceInTheQuota) {
  const std::uint64_t limit = 16 * kMiB;
  storage({.most_stored = limit});
  for (int attempt = 0; attempt < 5; ++attempt) {
    auto upload = begin();
    resume(*upload);
    if (attempt == 0) upload_text(*upload, 0, 4 * kMiB);
    upload.reset();
    EXPECT_LE(storage().quota().left(), limit - 3 * kMiB);
    EXPECT_GE(storage().quota().left(), limit - 5 * kMiB);
  }
  goes_on(4 * kMiB);
  EXPECT_EQ(storage().quota().left(), limit - text_.size() - kEntryBytes);
}

// Somebody may begin files without end.
TEST_F(PartialQuota, TheOldestGoesWhereTooManyAreKept) {
  const std::uint64_t limit = 64 * kMiB;
  storage({.most_kept = 3, .most_stored = limit});
  for (const char* name : {"a", "b", "c", "a", "d", "e"}) interrupt(name);  // "b" is the oldest, then "c"
  EXPECT_EQ(storage().unfinished(), 3U);
  EXPECT_EQ(hidden().size(), 6U) << "three files, and their journals";
  EXPECT_EQ(storage().quota().left(), limit - 4 * kMiB - 6 * kEntryBytes);
  EXPECT_EQ(interrupt("b"), 0U);
  EXPECT_EQ(interrupt("d"), kMiB);
}

// An address that begins files without end does not make the files of others leave.
TEST_F(PartialQuota, TheAddressWithMostGivesWay) {
  storage({.most_kept = 3, .most_stored = 64 * kMiB});
  constexpr PeerAddress kModest{1}, kGreedy{2};
  interrupt("modest", kModest);
  for (int i = 0; i < 10; ++i) interrupt("greedy " + std::to_string(i), kGreedy);
  EXPECT_EQ(storage().unfinished(), 3U);
  EXPECT_EQ(interrupt("modest", kModest), kMiB);
  EXPECT_EQ(interrupt("greedy 9", kGreedy), kMiB);
  EXPECT_EQ(interrupt("greedy 0", kGreedy), 0U);
}

// A small file comes whole, so nobody would ever go on with it.
TEST_F(PartialQuota, GoesWhereItsNameComesAgainAsASmallFile) {
  const std::uint64_t limit = 16 * kMiB;
  storage({.most_stored = limit});
  auto upload = begin();
  resume(*upload);
  upload_text(*upload, 0, 4 * kMiB);
  upload.reset();
  EXPECT_EQ(storage().unfinished(), 1U);
  EXPECT_EQ(hidden().size(), 2U);
  auto small = storage().upload({.name = "new", .size = 4, .id = 2, .wishes = FileWishes{.mode = 0640}});
  ASSERT_TRUE(small && (*small)->take({0, 4}));
  test::store(**small, "text", {0, 4});
  (*small)->finish({0, 4});
  EXPECT_TRUE(test::check(**small));
  EXPECT_EQ(storage().unfinished(), 0U);
  EXPECT_TRUE(hidden().empty());
  EXPECT_EQ(text_of(path("new")), "text");
  EXPECT_EQ(storage().quota().left(), limit - 4 - kEntryBytes);
}

// While this lives no file of the process may grow beyond so many bytes.
class LargestFile {
 public:
  explicit LargestFile(rlim_t bytes) {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    EXPECT_EQ(::sigaction(SIGXFSZ, &ignored, &signal_), 0);
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &limit_), 0);
    const rlimit lower{bytes, limit_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &lower), 0);
  }
  ~LargestFile() {
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit_), 0);
    EXPECT_EQ(::sigaction(SIGXFSZ, &signal_, nullptr), 0);
  }

 private:
  struct sigaction signal_ {};
  rlimit limit_{};
};

// A sender that is told of the shortage asks once more.
TEST_F(PartialQuota, IsSealedAgainAfterAShortageOfDescriptors) {
  auto upload = begin();
  resume(*upload);
  upload_text(*upload, 0, text_.size());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_EQ(seal(*upload).error().error, FileError::busy);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(seal(*upload));
  EXPECT_TRUE(text_of(path("new")) == text_);
}

// Its connection ends before the disk is asked, or while it is: what is on the disk then is counted.
TEST_F(PartialQuota, CountsWhatWasLeftOutOfItsGroup) {
  const std::uint64_t limit = 16 * kMiB;
  text_.resize(3 * kMiB + kMiB / 2);
  UploadRequest synced = request();
  synced.wishes->synced = true;
  for (int attempt = 0; attempt < 20; ++attempt) {
    storage({.most_stored = limit});
    auto upload = storage().upload(synced).value();
    resume(*upload);
    upload_text(*upload, 0, text_.size());
    ASSERT_TRUE(upload->seal(digest_of(text_)));
    static_cast<void>(upload->check());
    upload->release();
    upload.reset();
    for (int turn = 0; turn < 5000 && storage().quota().left() > limit - text_.size(); ++turn)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_LE(storage().quota().left(), limit - text_.size()) << attempt;
    storage_.reset();
    std::filesystem::remove(path("new"));
    for (const auto& [name, text] : hidden()) std::filesystem::remove(path(name));
  }
}

// It cannot be gone on with now, and stays on the disk.
TEST_F(PartialQuota, CountsInTheQuotaWhileItIsRefused) {
  const std::uint64_t limit = 16 * kMiB;
  storage({.most_stored = limit, .write = FileWrite::mmap});
  auto upload = begin();
  resume(*upload);
  upload_text(*upload, 0, 4 * kMiB);
  upload.reset();
  const std::uint64_t left = storage().quota().left();
  EXPECT_LE(left, limit - 3 * kMiB);
  {
    const LargestFile largest(kMiB);
    EXPECT_EQ(storage().upload(request()).error().error, FileError::too_large);
  }
  EXPECT_EQ(hidden().size(), 2U);
  EXPECT_EQ(storage().quota().left(), left);
  goes_on(4 * kMiB);
  EXPECT_EQ(storage().quota().left(), limit - text_.size() - kEntryBytes) << "it counts once";
}

class Descriptors : public test::PartialUploadTest {
 protected:
  static std::uint64_t open_now() {
    const std::filesystem::directory_iterator all("/dev/fd");
    return static_cast<std::uint64_t>(std::distance(all, std::filesystem::directory_iterator{}));
  }
};

TEST_F(Descriptors, OfAnUploadAreNoMoreThanAreReckonedWith) {
  storage();
  const std::uint64_t before = open_now();
  UploadRequest all = request();
  all.wishes->resumable = false;
  {
    const auto whole = storage().upload(all).value();
    EXPECT_EQ(open_now(), before + descriptors::kOfWhole);
  }
  {
    const auto upload = begin();
    resume(*upload);
    EXPECT_EQ(open_now(), before + descriptors::kOfUpload - 1) << "there is no journal yet";
    upload_text(*upload, 0, 4 * kMiB);
    EXPECT_EQ(open_now(), before + descriptors::kOfUpload);
  }
  const auto resumed = begin();
  EXPECT_GT(resume(*resumed).verified, 0U);
  EXPECT_EQ(open_now(), before + descriptors::kOfUpload);
}

TEST_F(Descriptors, LeaveRoomForConnections) {
  {
    const test::DescriptorLimit tight(64);
    storage();
  }
  std::vector<std::shared_ptr<Upload>> held;
  for (const std::string_view name : {"1", "2", "3", "4"}) {
    UploadRequest request = this->request();
    request.name = name;
    held.push_back(storage().upload(request).value());
  }
  EXPECT_EQ(storage().upload(request()).error().text, "open uploads: 4 of at most 4");
}

}  // namespace

}  // namespace joust

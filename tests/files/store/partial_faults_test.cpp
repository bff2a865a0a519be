// SPDX-License-Identifier: MIT
//
// Uploads that outlive an interruption, where the disk or the machine fails, or another process is in the
// way.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "failing_calls.hpp"
#include "files/store/partial_fixture.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;
using test::Call;
using test::check;
using test::digest_of;
using test::Failing;
using test::text_of;

class PartialFaults : public test::PartialUploadTest {
 protected:
  UploadRequest synced() const {
    UploadRequest request = this->request();
    request.wishes->synced = true;
    return request;
  }
  std::string hidden_path(std::string_view kind) const {
    for (const auto& [name, text] : hidden())
      if (name.starts_with(kind)) return path(name);
    return {};
  }
  static unsigned mode_of(const std::string& path) {
    struct stat facts {};
    EXPECT_EQ(::stat(path.c_str(), &facts), 0) << path;
    return facts.st_mode & 07777;
  }
};

// While this lives the process is one without the rights of the superuser, if it has them.
class AsNobody {
 public:
  AsNobody() { EXPECT_TRUE(before_ != 0 || ::seteuid(65534) == 0); }
  ~AsNobody() { EXPECT_TRUE(before_ != 0 || ::seteuid(0) == 0); }

 private:
  const uid_t before_ = ::geteuid();
};

TEST_F(PartialFaults, WhatTheDiskHasNotTakenIsNotGoneOnWith) {
  auto upload = storage().upload(synced()).value();
  resume(*upload);
  upload_text(*upload, 0, text_.size());
  EXPECT_EQ(hidden().size(), 2U);
  const Failing failing(Call::fsync, EIO, 1);
  EXPECT_EQ(seal(*upload).error().error, FileError::input_output);
  EXPECT_EQ(failing.failed(), 1U);
  upload.reset();
  EXPECT_TRUE(hidden().empty());
  EXPECT_FALSE(fs::exists(path("new")));
  auto again = storage().upload(synced());
  for (int turn = 0; turn < 1000 && !again; ++turn) {  // the thread may hold the first for a moment yet
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    again = storage().upload(synced());
  }
  ASSERT_TRUE(again);
  EXPECT_EQ(resume(**again).verified, 0U) << "the same command starts over";
}

// The connection is lost while a thread waits for the disk: it alone is told.
TEST_F(PartialFaults, WhatTheDiskHasNotTakenIsNotGoneOnWithIfNobodyIsTold) {
  for (const bool others_hold_it : {false, true}) {
    UploadRequest request = synced();
    request.id = others_hold_it ? 2 : 1;  // another one: the thread may hold the first for a moment yet
    auto upload = storage().upload(request).value();
    resume(*upload);
    upload_text(*upload, 0, text_.size());
    const Failing failing(Call::fsync, EIO, 1);
    ASSERT_TRUE(upload->seal(digest_of(text_)));
    static_cast<void>(upload->check());
    upload->release();
    if (!others_hold_it) upload.reset();
    for (int turn = 0; turn < 1000 && !hidden().empty(); ++turn)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(hidden().empty());
  }
}

TEST_F(PartialFaults, AFileSystemWithoutLocksIsGoodEnough) {
  for (const int error : {ENOLCK, EOPNOTSUPP}) {
    const Failing failing(Call::flock, error);
    auto upload = storage().upload(request()).value();
    resume(*upload);
    upload_text(*upload, 0, 4 * kMiB);
    upload.reset();
    EXPECT_GE(goes_on(4 * kMiB), 3 * kMiB);
    EXPECT_GT(failing.failed(), 0U);
  }
}

TEST_F(PartialFaults, NoRangeIsTakenBeforeTheRecallIsComplete) {
  put_back(killed_after(6 * kMiB));
  auto upload = begin();
  EXPECT_FALSE(upload->resume().complete);
  EXPECT_EQ(upload->take({0, kMiB}).error().error, FileError::busy);
  EXPECT_EQ(upload->seal(digest_of(text_)).error().error, FileError::malformed);
  const auto resumed = resume(*upload);
  EXPECT_GE(resumed.verified, 5 * kMiB);
  EXPECT_EQ(upload->take({0, kMiB}).error().error, FileError::overlap);
  upload_text(*upload, resumed.verified, text_.size());
  EXPECT_TRUE(seal(*upload));
  EXPECT_EQ(text_of(path("new")), text_);
}

TEST_F(PartialFaults, NobodyElseReadsWhatIsUnderWay) {
  auto upload = begin();
  resume(*upload);
  upload_text(*upload, 0, 4 * kMiB);
  for (int interrupted = 0; interrupted < 2; ++interrupted) {
    EXPECT_EQ(hidden().size(), 2U);
    for (const auto& [name, text] : hidden()) EXPECT_EQ(mode_of(path(name)), 0600U) << name;
    upload.reset();
  }
  UploadRequest whole = request(2);
  whole.name = "whole";
  whole.wishes->resumable = false;
  upload = storage().upload(whole).value();
  EXPECT_EQ(hidden().size(), 2U) << "what comes whole has no name at all";
}

TEST_F(PartialFaults, AReadOnlyFileWhoseNameWasTakenIsOpenedAgain) {
  UploadRequest read_only = request();
  read_only.wishes->mode = 0444;
  auto upload = storage().upload(read_only).value();
  resume(*upload);
  upload_text(*upload, 0, text_.size());
  std::ofstream(path("new")) << "in the way";
  EXPECT_EQ(seal(*upload).error().error, FileError::exists);
  upload.reset();
  fs::remove(path("new"));
  EXPECT_EQ(mode_of(hidden_path(kPartial)), 0600U);
  EXPECT_GE(goes_on(text_.size()), 5 * kMiB);
}

TEST_F(PartialFaults, AFolderThatMayNotBeWrittenToIsNotCalledMissing) {
  fs::permissions(folder_.path(), fs::perms::all);
  for (const bool resumable : {true, false}) {
    UploadRequest wanted = request();
    wanted.wishes->resumable = resumable;
    fs::permissions(path("."), fs::perms{0555});
    const AsNobody nobody;
    const auto upload = storage().upload(wanted);
    ASSERT_FALSE(upload);
    EXPECT_EQ(upload.error().error, FileError::not_permitted);
    EXPECT_EQ(upload.error().text, "Permission denied");
  }
  fs::permissions(path("."), fs::perms{0755});
}

// As drop boxes are: its handle cannot be synced.
TEST_F(PartialFaults, NamesInAFolderThatMayNotBeReadAreOnTheDiskToo) {
  fs::permissions(folder_.path(), fs::perms::all);
  fs::create_directory(path("box"));
  ASSERT_TRUE(::geteuid() != 0 || ::chown(path("box").c_str(), 65534, 65534) == 0);
  fs::permissions(path("box"), fs::perms{0300});
  {
    const AsNobody nobody;
    const auto send_synced = [&](const char* name) {
      UploadRequest wanted = synced();
      wanted.name = name;
      wanted.wishes->resumable = false;
      auto upload = storage().upload(wanted).value();
      upload_text(*upload, 0, text_.size());
      const auto done = check(*upload);
      return done ? FileError::none : done.error().error;
    };
    EXPECT_EQ(send_synced("box/taken"), FileError::none);
    const Failing failing(Call::syncfs, EIO);
    EXPECT_EQ(send_synced("box/refused"), FileError::input_output);
  }
  fs::permissions(path("box"), fs::perms{0700});
}

// Killed between the mode and the name.
TEST_F(PartialFaults, AReadOnlyFileOfAKilledProcessIsOpenedAgain) {
  const auto left = killed_after(6 * kMiB);
  for (const std::string& folder : {folder_.path(), path(".")}) fs::permissions(folder, fs::perms::all);
  const AsNobody nobody;
  put_back(left);
  const std::string partial = hidden_path(kPartial);
  fs::permissions(partial, fs::perms(0444));
  {
    const Fd finisher(::open(partial.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(finisher.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(storage().upload(request()).error().error, FileError::busy) << "it has its name soon";
    EXPECT_EQ(mode_of(partial), 0444U);
  }
  EXPECT_GE(goes_on(6 * kMiB), 5 * kMiB);
}

// The temporary name is free as soon as the final one is taken.
TEST_F(PartialFaults, TheJournalOfTheNextSenderStays) {
  auto upload = begin();
  resume(*upload);
  upload_text(*upload, 0, text_.size());
  const std::string journal = hidden_path(kJournal);
  fs::remove(journal);
  std::ofstream(journal) << "the next one's";
  EXPECT_TRUE(seal(*upload));
  EXPECT_EQ(text_of(journal), "the next one's");
}

TEST_F(PartialFaults, AFileThatHasAnotherNameLosesNothing) {
  auto upload = begin();
  resume(*upload);
  upload_text(*upload, 0, 4 * kMiB + 12345);
  fs::rename(hidden_path(kPartial), path("kept"));
  upload.reset();
  EXPECT_EQ(fs::file_size(path("kept")), 4 * kMiB + 12345);
  EXPECT_TRUE(hidden().empty()) << "a journal without its file";
}

// As a kill between linkat() and unlinkat() leaves it.
TEST_F(PartialFaults, ASecondNameOfThePublishedFileIsNoObstacle) {
  storage({.existing = Existing::replace});
  const auto left = killed_after(4 * kMiB);
  storage({.existing = Existing::replace});
  put_back(left);
  fs::create_hard_link(hidden_path(kPartial), path("new"));
  UploadRequest again = request();
  again.wishes->overwrites = true;
  auto upload = storage().upload(again);
  ASSERT_TRUE(upload) << upload.error().text;
  EXPECT_EQ(fs::file_size(path("new")), 4 * kMiB) << "the published one";
  resume(**upload);
  upload_text(**upload, 0, text_.size());
  EXPECT_TRUE(seal(**upload));
  EXPECT_EQ(text_of(path("new")), text_);
}

// Other connections still have references to it.
TEST_F(PartialFaults, WhatNobodyChecksAnyMoreIsFreeForTheNext) {
  const std::uint64_t limit = 16 * kMiB;
  storage({.most_stored = limit});
  const auto first = begin(1);
  resume(*first);
  upload_text(*first, 0, text_.size());
  ASSERT_TRUE(first->seal(digest_of(text_)));
  EXPECT_EQ(storage().upload(request(2)).error().error, FileError::busy);
  first->release();
  EXPECT_GE(goes_on(text_.size(), 2), 5 * kMiB);
  EXPECT_EQ(storage().quota().left(), limit - text_.size() - kEntryBytes) << "it counts once";
}

// Without bytes in memory, as after splice(2).
TEST_F(PartialFaults, TheWorkerGoesOnBehindWhatWasThere) {
  put_back(killed_after(3 * kMiB));
  auto upload = begin();
  const std::uint64_t from = resume(*upload).verified;
  ASSERT_GE(from, 2 * kMiB);
  const ByteRange rest{from, text_.size() - from};
  ASSERT_TRUE(upload->take(rest));
  for (std::uint64_t at = from; at < text_.size(); at += kMiB)
    test::store(*upload, text_, {at, std::min(kMiB, text_.size() - at)}, false);
  upload->finish(rest);
  for (int turn = 0; turn < 1000 && upload->left_to_check() > kMiB; ++turn)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_LE(upload->left_to_check(), kMiB);
  upload.reset();
  EXPECT_GT(fs::file_size(hidden_path(kPartial)), from) << "what is new stays";
}

}  // namespace
}  // namespace joust

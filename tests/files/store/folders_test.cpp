// SPDX-License-Identifier: MIT
//
// Directories that peers ask for, and those on the way to an upload, with their names on the disk.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "failing_calls.hpp"
#include "files/store/disk/group_commit.hpp"
#include "files/store/disk/named_entry.hpp"
#include "files/store/partial_fixture.hpp"
#include "files/store/quota.hpp"
#include "files/store/storage_fixture.hpp"
#include "files/store/upload/memory_tree.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;
using test::Call;
using test::Failing;

const FileWishes kDeep{.mode = 0755, .makes_parents = true};
const FileWishes kSyncedFolder{.mode = 0755, .makes_parents = true, .synced = true};

class NewFolders : public test::StorageTest {
 protected:
  // To its end: the error, or none.
  FileError make(std::string_view name, const FileWishes& wishes = kDeep) {
    const auto folder = storage().make_folder(name, wishes);
    return folder ? wait(**folder) : folder.error().error;
  }
  static FileError wait(StoredEntry& folder) {
    for (;;) {
      const auto is_there = folder.is_on_disk();
      if (!is_there) return is_there.error().error;
      if (*is_there) return FileError::none;
      std::this_thread::yield();
    }
  }
  unsigned mode_of(const std::string& name) const {
    struct stat facts {};
    EXPECT_EQ(::stat(path(name).c_str(), &facts), 0) << name;
    return facts.st_mode & 07777;
  }
};

TEST_F(NewFolders, HaveTheirModeWhateverTheUmask) {
  const mode_t before = ::umask(077);
  for (const unsigned mode : {0777U, 0750U, 0705U, 0500U, 0000U}) {
    const std::string name = fmt::format("{:o}", mode);
    EXPECT_EQ(make(name, {.mode = mode}), FileError::none);
    EXPECT_EQ(mode_of(name), mode);
  }
  ::umask(before);
}

TEST_F(NewFolders, TakePermissionsOnly) {
  EXPECT_EQ(make("new", {.mode = 07711}), FileError::none);
  EXPECT_EQ(mode_of("new"), 0711U);
}

// A folder that a group shares.
TEST_F(NewFolders, HaveTheGroupOfTheFolderTheyAreIn) {
  ASSERT_EQ(::chmod(path("sub").c_str(), 02755), 0);
  if (mode_of("sub") != 02755U) GTEST_SKIP() << "this file system has no such bit";
  EXPECT_EQ(make("sub/new", {.mode = 0700}), FileError::none);
  EXPECT_EQ(mode_of("sub/new"), 02700U);
}

TEST_F(NewFolders, AreLeftAsTheyAreWhereTheyAreThere) {
  ASSERT_EQ(::chmod(path("sub").c_str(), 0711), 0);
  std::ofstream(path("sub/file")) << "text";
  for (const FileWishes& wishes : {FileWishes{.mode = 0700}, kSyncedFolder}) {
    const auto folder = storage().make_folder("sub", wishes);
    ASSERT_TRUE(folder);
    EXPECT_TRUE((*folder)->was_there());
    EXPECT_EQ(wait(**folder), FileError::none);
  }
  EXPECT_EQ(mode_of("sub"), 0711U);
  EXPECT_EQ(test::text_of(path("sub/file")), "text");
  const auto folder = storage().make_folder("new", {.mode = 0700});
  EXPECT_FALSE((*folder)->was_there());
}

TEST_F(NewFolders, GetTheModeWhereThatIsWishedAndExistingFilesAreReplaced) {
  storage({.existing = Existing::replace});
  ASSERT_EQ(::chmod(path("sub").c_str(), 02711), 0);
  EXPECT_EQ(make("sub", {.mode = 0700}), FileError::none);
  EXPECT_EQ(mode_of("sub"), 02711U) << "nobody wishes it";
  for (const auto& [mode, synced] : {std::pair(07500U, false), std::pair(0711U, true)}) {
    EXPECT_EQ(make("sub", {.mode = mode, .overwrites = true, .synced = synced}), FileError::none);
    EXPECT_EQ(mode_of("sub"), 02000U | (mode & 0777U)) << "the other bits stay";
  }
}

TEST_F(NewFolders, KeepTheirModeWhereExistingFilesAreKept) {
  ASSERT_EQ(::chmod(path("sub").c_str(), 0711), 0);
  EXPECT_EQ(make("sub", {.mode = 0700, .overwrites = true}), FileError::none);
  EXPECT_EQ(mode_of("sub"), 0711U);
}

TEST_F(NewFolders, AreMadeWithThoseOnTheWayWhereItIsAsked) {
  EXPECT_EQ(make("a/b/c", {.mode = 0700}), FileError::not_found);
  EXPECT_EQ(entries(), 2U);
  EXPECT_EQ(make("a/b/c", {.mode = 0700, .makes_parents = true}), FileError::none);
  EXPECT_EQ(mode_of("a/b/c"), 0700U);
  EXPECT_NE(mode_of("a/b"), 0700U) << "files may come into it";
}

TEST_F(NewFolders, TakeNoOtherName) {
  fs::create_directory_symlink("sub", path("link"));
  fs::create_symlink("nowhere", path("dangling"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  for (const char* name : {"old", "link", "dangling", "fifo"})
    EXPECT_EQ(make(name), FileError::exists) << name;
  EXPECT_EQ(entries(), 5U);
  EXPECT_EQ(entries("sub"), 0U);
}

TEST_F(NewFolders, AreMadeThroughNoLink) {
  fs::create_directory(folder_.file("elsewhere"));
  fs::create_directory_symlink(folder_.file("elsewhere"), path("out"));
  fs::create_directory_symlink("sub", path("aside"));
  fs::create_directory_symlink("nowhere", path("dangling"));
  for (const Resolution way : {Resolution::openat2, Resolution::walk}) {
    DirectoryTree tree(folder_.file("root"), way);
    for (const char* name : {"out/new", "out/a/b", "aside/new", "aside/a/b", "dangling/new", "old/new"})
      EXPECT_FALSE(tree.make_folder(name, {.makes_parents = true, .mode = 0755})) << name;
  }
  EXPECT_TRUE(fs::is_empty(folder_.file("elsewhere")));
  EXPECT_EQ(entries("sub"), 0U);
}

TEST_F(NewFolders, TakeRoomForEachThatIsMade) {
  storage({.most_stored = 4 * kEntryBytes});
  EXPECT_EQ(make("sub"), FileError::none);
  EXPECT_EQ(make("old"), FileError::exists);
  EXPECT_EQ(storage().quota().left(), 4 * kEntryBytes);
  EXPECT_EQ(make("a/b/c"), FileError::none);
  EXPECT_EQ(make("a/b/c"), FileError::none) << "that is there";
  EXPECT_EQ(storage().quota().left(), kEntryBytes);
  EXPECT_EQ(make("d"), FileError::none);
  EXPECT_EQ(make("e"), FileError::no_space);
  EXPECT_FALSE(fs::exists(path("e")));
}

// The disk is busy with it until it is told otherwise.
class SlowFile : public NewFile, public GroupCommit::Member {
 public:
  int complete(int /*fd*/) override {
    over_.wait(false);
    return 0;
  }
  void end() {
    over_ = true;
    over_.notify_all();
  }
  std::expected<ReplacedBytes, int> take_name(int /*fd*/) override { return std::nullopt; }
  void abandon() override {}
  void release() override {}
  NewFile& new_file() override { return *this; }
  int number() const override { return -1; }
  void committed(std::expected<ReplacedBytes, int> /*published*/) override {}

 private:
  std::atomic<bool> over_{false};
};

// Their folder once for all of them, and not for each.
TEST_F(NewFolders, ThatComeMeanwhileAreSyncedTogether) {
  constexpr std::uint64_t kFolders = 200;
  DirectoryTree tree(folder_.file("root"));
  GroupCommit commits;
  const auto before = std::make_shared<SlowFile>();
  ASSERT_TRUE(commits.add(before));
  std::vector<std::shared_ptr<NamedEntry>> folders;
  for (std::uint64_t i = 0; i < kFolders; ++i) {
    auto made = tree.make_folder("sub/" + std::to_string(i), {.mode = 0755});
    EXPECT_TRUE(made);
    if (!made) break;
    folders.push_back(std::move(*made));
    folders.back()->sync(&commits);
    EXPECT_EQ(folders.back()->is_on_disk(), false);
  }
  const Failing failing(Call::fsync, EIO, Failing::kAlways, kFolders + 4);
  before->end();
  for (const auto& folder : folders) EXPECT_EQ(wait(*folder), FileError::none);
  EXPECT_EQ(failing.failed(), 0U);
}

// Itself, and its name.
TEST_F(NewFolders, ThatTheDiskDidNotTakeAreAnError) {
  for (const std::uint64_t passed : {0, 1}) {
    const Failing failing(Call::fsync, EIO, 1, passed);
    EXPECT_EQ(make(fmt::format("sub/new{}", passed), kSyncedFolder), FileError::input_output) << passed;
  }
  for (const std::string_view again : {"sub/new0", "sub/new1"})
    EXPECT_EQ(make(again, kSyncedFolder), FileError::input_output) << "the kernel tells it once";
  const Failing failing(Call::fsync, EIO);
  EXPECT_EQ(make("sub", kSyncedFolder), FileError::input_output) << "it may have been made a moment ago";
  EXPECT_EQ(make("other", kDeep), FileError::none) << "nobody asked for the disk";
}

// A later sync of the directory, for the name of what is in it, says nothing.
TEST_F(NewFolders, ThatTheDiskDidNotTakeHaveNoFilesThatItHas) {
  {
    const Failing failing(Call::fsync, EIO, 1);
    EXPECT_EQ(make("new", kSyncedFolder), FileError::input_output);
  }
  EXPECT_EQ(make("new/below", kSyncedFolder), FileError::input_output);
  EXPECT_EQ(make("other", kSyncedFolder), FileError::none);
}

TEST_F(NewFolders, AreSyncedAtOnceWhereThereIsNoThread) {
  const Failing no_thread(Call::pthread_create, EAGAIN);
  const auto folder = storage().make_folder("new", kSyncedFolder);
  ASSERT_TRUE(folder);
  EXPECT_EQ((*folder)->is_on_disk(), true);
  const Failing failing(Call::fsync, EIO, 1);
  EXPECT_EQ(make("other", kSyncedFolder), FileError::input_output);
}

TEST(NewFoldersInMemory, AreNotThere) {
  TreeStorage storage(std::make_unique<MemoryTree>(), {.most_stored = 1 << 20});
  EXPECT_EQ(storage.make_folder("new", kDeep).error().error, FileError::not_permitted);
}

using test::check;
using test::digest_of;

class Folders : public test::PartialUploadTest {
 protected:
  UploadRequest deep(std::string_view name) const {
    UploadRequest request = this->request();
    request.wishes->synced = true;
    request.name = name;
    request.size = 0;
    request.wishes->makes_parents = true;
    return request;
  }
  FileError error_of(std::string_view name) {
    const auto upload = storage().upload(deep(name));
    return upload ? FileError::none : upload.error().error;
  }
  // The call fails that follows `passed` others: the first is the file's own.
  FileError without_sync(std::string_view name, std::uint64_t passed, int error = ENOMEM) {
    const auto upload = storage().upload(deep(name)).value();
    resume(*upload);
    EXPECT_TRUE(upload->seal(digest_of("")));
    const Failing failing(Call::fsync, error, 1, passed);
    const auto checked = check(*upload);
    return checked ? FileError::none : checked.error().error;
  }
};

TEST_F(Folders, CountInTheQuotaForGood) {
  storage({.most_stored = 3 * kEntryBytes + 100});
  EXPECT_EQ(error_of("a/new"), FileError::none);
  EXPECT_EQ(storage().quota().left(), 2 * kEntryBytes + 100) << "the upload was given up, its folder stays";
  EXPECT_EQ(error_of("a/b/c/d/e/new"), FileError::no_space);
  EXPECT_TRUE(fs::exists(path("a/b/c")));
  EXPECT_FALSE(fs::exists(path("a/b/c/d")));
  EXPECT_EQ(storage().quota().left(), 100U);
}

// First the root's names, which have "a" now, and then those of "a".
TEST_F(Folders, HaveTheirNamesOnTheDiskBeforeTheirFilesCount) {
  EXPECT_EQ(without_sync("a/b/1", 1), FileError::busy);
  EXPECT_EQ(without_sync("a/b/2", 1), FileError::busy) << "it is there, and not known to be safe";
  EXPECT_EQ(without_sync("a/b/3", 2), FileError::busy);
  EXPECT_EQ(without_sync("a/b/4", 2), FileError::busy);
  EXPECT_EQ(without_sync("a/b/5", 2), FileError::none) << "each on the way is synced once";
  EXPECT_EQ(without_sync("sub/new", 1), FileError::busy) << "somebody else has made it";
}

// The kernel tells that once: each later sync of the directory would say nothing.
TEST_F(Folders, WhoseNamesTheDiskHasFailedToTakeStayAnError) {
  EXPECT_EQ(without_sync("a/1", 2, EIO), FileError::input_output);
  EXPECT_EQ(without_sync("a/2", Failing::kAlways), FileError::input_output) << "a new file";
  EXPECT_EQ(without_sync("b/1", Failing::kAlways), FileError::none) << "another directory is none of it";
  fs::remove_all(path("a"));
  EXPECT_EQ(without_sync("a/1", Failing::kAlways), FileError::none) << "it is another one";
}

// A directory that is made in the place of another one often gets its number.
TEST_F(Folders, AreSyncedAgainWhenTheyAreOthers) {
  EXPECT_EQ(without_sync("a/1", 3), FileError::none);
  fs::remove_all(path("a"));
  EXPECT_EQ(without_sync("a/1", 2), FileError::busy);
}

}  // namespace

}  // namespace joust

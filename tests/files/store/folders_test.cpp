// SPDX-License-Identifier: MIT
//
// The directories on the way to an upload, and their names on the disk.
#include <cerrno>

#include "failing_calls.hpp"
#include "files/store/partial_fixture.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;
using test::Call;
using test::check;
using test::digest_of;
using test::Failing;

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

// SPDX-License-Identifier: MIT
#include "files/store/disk/directory.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "files/store/hostile_names.hpp"
#include "temporary_folder.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;

void write(const std::string& path, std::string_view text) {
  std::ofstream(path) << text;
}

// By one system call, and by the walk that takes its place on older kernels.
class DirectoryBy : public testing::TestWithParam<Resolution> {
 protected:
  DirectoryBy() {
    fs::create_directories(folder_.file("root/sub"));
    write(folder_.file("secret"), "secret");
    write(folder_.file("root/a"), "inside");
    write(folder_.file("root/sub/b"), "deeper");
  }
  // 0, or the errno.
  int error_of(std::string_view name) const {
    const auto fd = Directory(folder_.file("root"), GetParam()).open_file(name);
    return fd ? 0 : fd.error();
  }

  test::TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Ways, DirectoryBy, testing::Values(Resolution::openat2, Resolution::walk),
                         [](const auto& tested) {
                           return tested.param == Resolution::walk ? "walk" : "openat2";
                         });

TEST_P(DirectoryBy, OpensFilesBeneathIt) {
  EXPECT_EQ(error_of("a"), 0);
  EXPECT_EQ(error_of("sub/b"), 0);
  EXPECT_EQ(error_of("nothing"), ENOENT);
  EXPECT_EQ(error_of("nothing/b"), ENOENT);
  EXPECT_EQ(error_of("a/b"), ENOTDIR);
}

TEST_P(DirectoryBy, FollowsNoLink) {
  fs::create_symlink(folder_.file("secret"), folder_.file("root/absolute"));
  fs::create_symlink("../secret", folder_.file("root/out"));
  fs::create_symlink("a", folder_.file("root/within"));
  fs::create_symlink(folder_.path(), folder_.file("root/up"));
  fs::create_symlink("sub", folder_.file("root/aside"));
  fs::create_symlink("/proc/self/root", folder_.file("root/magic"));
  for (const char* name : {"absolute", "out", "within", "up/secret", "aside/b", "magic/etc/passwd"})
    EXPECT_NE(error_of(name), 0) << name;
}

TEST_P(DirectoryBy, RefusesWhatIsNoRegularFileAndWaitsForNoFifo) {
  ASSERT_EQ(::mkfifo(folder_.file("root/fifo").c_str(), 0600), 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  folder_.file("root/socket").copy(address.sun_path, sizeof address.sun_path - 1);
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const char* name : {"fifo", "socket", "sub"}) EXPECT_NE(error_of(name), 0) << name;
}

// Such names are refused before they come here; even if they were not, nobody gets out.
TEST_P(DirectoryBy, LetsNoHostileNameOut) {
  if (GetParam() == Resolution::walk) GTEST_SKIP() << "the walk relies on names having no '..'";
  const Directory directory(folder_.file("root"), GetParam());
  for (const std::string& name : test::hostile_names())
    if (name.find('\0') == std::string::npos && name != "./a") {  // which is inside
      EXPECT_FALSE(directory.open_file(name)) << testing::PrintToString(name);
    }
}

TEST_P(DirectoryBy, StaysInTheDirectoryItWasGivenWhateverTakesItsPlace) {
  const Directory directory(folder_.file("root"), GetParam());
  fs::rename(folder_.file("root"), folder_.file("moved"));
  fs::create_directory(folder_.file("root"));
  EXPECT_TRUE(directory.open_file("a"));
}

TEST_P(DirectoryBy, SaysWhereAFileLies) {
  const Directory directory(folder_.file("root"), GetParam());
  const auto parent = directory.open_parent("sub/new");
  ASSERT_TRUE(parent);
  EXPECT_EQ(parent->last, "new");
  EXPECT_FALSE(directory.open_parent("nothing/new"));
  EXPECT_FALSE(directory.open_parent("a/new"));
  EXPECT_FALSE(fs::exists(folder_.file("root/nothing"))) << "parents are never created";
}

TEST(Directory, MustExist) {
  EXPECT_THROW(Directory("/nonexistent/joust"), std::system_error);
}

constexpr FileVersion kFile{.device = 1, .inode = 2, .size = 3, .modified_ns = 4, .changed_ns = 5};

FileVersion another(std::uint64_t inode) {
  FileVersion file = kFile;
  file.inode = inode;
  return file;
}

TEST(FailuresOfTheDisk, AreErrorsOfTheDisk) {
  for (const int error : {EIO, ENOSPC, EDQUOT}) {
    FolderTree tree(".");
    EXPECT_FALSE(tree.has_failed(kFile));
    tree.note_failure(kFile, error);
    EXPECT_TRUE(tree.has_failed(kFile)) << error;
    EXPECT_FALSE(tree.has_failed(another(7)));
  }
  FolderTree tree(".");
  for (const int error : {0, ECANCELED, EMFILE, ENOMEM, ENOENT}) tree.note_failure(kFile, error);
  EXPECT_FALSE(tree.has_failed(kFile));
}

TEST(FailuresOfTheDisk, EndWithAnyChangeOfTheFile) {
  FolderTree tree(".");
  tree.note_failure(kFile, EIO);
  FileVersion changed = kFile;
  changed.changed_ns = 6;
  EXPECT_FALSE(tree.has_failed(changed));
}

TEST(FailuresOfTheDisk, OfTooManyFilesLeaveTrustInNone) {
  FolderTree tree(".");
  for (std::size_t file = 0; file < FolderTree::kMostFailures; ++file) {
    tree.note_failure(another(file + 10), EIO);
    tree.note_failure(another(file + 10), EIO);  // counts once
  }
  EXPECT_FALSE(tree.has_failed(another(1)));
  tree.note_failure(another(2), EIO);
  EXPECT_TRUE(tree.has_failed(another(1)));
}

}  // namespace

}  // namespace joust

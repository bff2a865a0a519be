// SPDX-License-Identifier: MIT
#include "files/store/folder_listing.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "files/store/disk/directory_tree.hpp"
#include "files/store/upload/memory_tree.hpp"
#include "files/store/upload/tree_storage.hpp"
#include "temporary_folder.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;

void write_file(const std::string& path, std::string_view text = {}) {
  std::ofstream(path, std::ios::binary) << text;
}

// By one system call, and by the walk that takes its place on older kernels.
class FolderListingBy : public testing::TestWithParam<Resolution> {
 protected:
  FolderListingBy() {
    fs::create_directories(folder_.file("root/sub/deeper"));
    write_file(folder_.file("secret"), "secret");
    write_file(folder_.file("root/a"), "inside");
    write_file(folder_.file("root/sub/b"));
  }
  FileAnswer<FolderListing> list(std::string_view name, std::size_t most = 100) const {
    TreeStorage storage(std::make_unique<DirectoryTree>(folder_.file("root"), GetParam()),
                        {.most_stored = 0});
    auto listing = storage.list(name, most);
    if (listing) std::ranges::sort(listing->entries, {}, &FolderEntry::name);
    return listing;
  }
  std::vector<std::string> names(std::string_view name, std::size_t most = 100) const {
    std::vector<std::string> all;
    const auto listing = list(name, most);
    EXPECT_TRUE(listing.has_value());
    if (listing)
      for (const FolderEntry& entry : listing->entries) all.push_back(entry.name);
    return all;
  }
  FileError error(std::string_view name) const {
    const auto listing = list(name);
    return listing ? FileError::none : listing.error().error;
  }

  test::TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Ways, FolderListingBy, testing::Values(Resolution::openat2, Resolution::walk),
                         [](const auto& tested) {
                           return tested.param == Resolution::walk ? "walk" : "openat2";
                         });

TEST_P(FolderListingBy, HasFilesAndDirectories) {
  const timespec time{.tv_sec = 1'000'000'000, .tv_nsec = 5};
  const timespec times[2] = {time, time};
  ASSERT_EQ(::utimensat(AT_FDCWD, folder_.file("root/a").c_str(), times, 0), 0);
  ASSERT_EQ(::chmod(folder_.file("root/a").c_str(), 0640), 0);
  const auto listing = list("");
  ASSERT_TRUE(listing.has_value());
  ASSERT_EQ(listing->entries.size(), 2U);
  EXPECT_EQ(listing->entries[0], (FolderEntry{"a", false, 6, 1'000'000'000'000'000'005, 0640}));
  EXPECT_EQ(listing->entries[1].name, "sub");
  EXPECT_TRUE(listing->entries[1].is_folder);
  EXPECT_TRUE(listing->is_whole);
  EXPECT_EQ(names("sub"), (std::vector<std::string>{"b", "deeper"}));
  EXPECT_EQ(names("sub/deeper"), std::vector<std::string>());
}

// As open() does not take them.
TEST_P(FolderListingBy, LeavesOutWhatIsNotServed) {
  const std::string root = folder_.file("root/");
  fs::create_symlink(folder_.file("secret"), root + "link");
  fs::create_directory_symlink(folder_.path(), root + "linked");
  ASSERT_EQ(::mkfifo((root + "fifo").c_str(), 0600), 0);
  write_file(root + ".joust-partial-x");
  write_file(root + "new\nline");
  write_file(root + "bad\xff");
  write_file(root + ".hidden");
  EXPECT_EQ(names(""), (std::vector<std::string>{".hidden", "a", "sub"}));
}

TEST_P(FolderListingBy, StaysBeneathTheRoot) {
  fs::create_directory_symlink(folder_.path(), folder_.file("root/linked"));
  for (const char* name : {"..", "sub/..", "sub/../..", "/", "/etc", "sub/", "./sub", ".joust-x"})
    EXPECT_EQ(error(name), FileError::name_refused) << name;
  EXPECT_NE(error("linked"), FileError::none);
  EXPECT_NE(error("linked/root"), FileError::none);
  EXPECT_EQ(error("a"), FileError::not_found);
  EXPECT_EQ(error("none"), FileError::not_found);
}

TEST_P(FolderListingBy, HasALimit) {
  for (int i = 0; i < 50; ++i) write_file(folder_.file("root/sub/" + std::to_string(i)));
  EXPECT_EQ(names("sub", 10).size(), 10U);
  EXPECT_FALSE(list("sub", 10)->is_whole);
  EXPECT_TRUE(list("sub", 52)->is_whole);
  EXPECT_EQ(names("sub", 0).size(), 0U) << "whether there is such a directory";
  EXPECT_EQ(error("none"), FileError::not_found);
}

TEST_P(FolderListingBy, LooksAtNotTooMuchInVain) {
  for (int i = 0; i < 500; ++i) fs::create_symlink("a", folder_.file("root/sub/" + std::to_string(i)));
  EXPECT_FALSE(list("sub", 10)->is_whole);
}

TEST(FolderListingTest, FilesInMemoryHaveNoDirectories) {
  TreeStorage storage(std::make_unique<MemoryTree>(), {.most_stored = 0});
  const auto listing = storage.list("", 10);
  ASSERT_FALSE(listing.has_value());
  EXPECT_EQ(listing.error().error, FileError::not_permitted);
}

}  // namespace
}  // namespace joust

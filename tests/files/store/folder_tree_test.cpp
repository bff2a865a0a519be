// SPDX-License-Identifier: MIT
#include "files/store/disk/folder_tree.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace joust {
namespace {

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

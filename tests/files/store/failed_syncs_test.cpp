// SPDX-License-Identifier: MIT
#include "files/store/failed_syncs.hpp"

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

TEST(FailedSyncs, AreErrorsOfTheDisk) {
  for (const int error : {EIO, ENOSPC, EDQUOT}) {
    FailedSyncs failed;
    EXPECT_FALSE(failed.has(kFile));
    failed.note(kFile, error);
    EXPECT_TRUE(failed.has(kFile)) << error;
    EXPECT_FALSE(failed.has(another(7)));
  }
  FailedSyncs failed;
  for (const int error : {0, ECANCELED, EMFILE, ENOMEM, ENOENT}) failed.note(kFile, error);
  EXPECT_FALSE(failed.has(kFile));
}

TEST(FailedSyncs, EndWithAnyChangeOfTheFile) {
  FailedSyncs failed;
  failed.note(kFile, EIO);
  FileVersion changed = kFile;
  changed.changed_ns = 6;
  EXPECT_FALSE(failed.has(changed));
}

TEST(FailedSyncs, OfTooManyFilesLeaveTrustInNone) {
  FailedSyncs failed;
  for (std::size_t file = 0; file < FailedSyncs::kMost; ++file) {
    failed.note(another(file + 10), EIO);
    failed.note(another(file + 10), EIO);  // counts once
  }
  EXPECT_FALSE(failed.has(another(1)));
  failed.note(another(2), EIO);
  EXPECT_TRUE(failed.has(another(1)));
}

}  // namespace
}  // namespace joust

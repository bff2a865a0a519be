// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "base/fd.hpp"

namespace joust::race {

// A new folder with a name of its own, removed with all its contents. It is locked (flock(2)) as long as this
// object lives, and the kernel frees the lock of a process that has been killed.
class TemporaryFolder {
 public:
  // Makes the folder in the folder for temporary files: TMPDIR, or /tmp. Throws std::system_error.
  TemporaryFolder();
  explicit TemporaryFolder(const std::filesystem::path& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Fd locked_;
};

// Removes the folders of races that were killed: this user's folders without a lock, in all places where
// races make them.
void remove_left_folders();

}  // namespace joust::race

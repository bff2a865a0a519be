// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <string>

#include "store/directory.hpp"
#include "store/file_tree.hpp"

namespace joust {

// The files below one directory. A file in the making lies beside the place where it shall be, under a name
// nobody can guess.
class DirectoryTree : public FileTree {
 public:
  // Throws std::system_error when there is no such directory.
  explicit DirectoryTree(const std::string& root, Resolution resolution = Resolution::openat2)
      : directory_(root, resolution) {}

  std::expected<Fd, int> open(std::string_view name) const override { return directory_.open_file(name); }

  bool is_immutable() const override { return false; }
  Available available() const override { return available_space(directory_.descriptor(), UINT64_MAX); }

  // Parents are never created. Nothing is ever published outside: publish() fails with ENOENT when the parent
  // is no longer where it was.
  std::expected<std::unique_ptr<NewFile>, int> create(std::string_view name, Existing existing) override;

 private:
  class TemporaryFile;

  const Directory directory_;
  std::mutex publishing_;  // what is counted off as replaced must be what was replaced
};

}  // namespace joust

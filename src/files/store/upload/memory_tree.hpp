// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "files/store/disk/file_tree.hpp"

namespace joust {

// 1024, or a quarter of this process's descriptors (RLIMIT_NOFILE) if that is less: the others are for
// connections and transfers.
std::size_t most_files_in_memory();

// Anonymous files in memory: the kernel frees them when the process ends, even by SIGKILL. The tree has no
// directories, so a name has one part. Each file keeps a descriptor, so their number is limited.
class MemoryTree : public FileTree {
 public:
  explicit MemoryTree(std::size_t most_files = most_files_in_memory()) : most_files_(most_files) {}

  std::expected<Fd, int> open(std::string_view name) const override;
  bool is_immutable() const override { return true; }
  Available available() const override { return available_memory(); }
  // Fails with ENOENT for a name of several parts, and with EMFILE if too many files exist. Uses only
  // `existing` of the rules: files in memory have neither mode nor time of their own.
  std::expected<std::unique_ptr<NewFile>, int> create(std::string_view name,
                                                      const NewFileRules& rules) override;

 private:
  class MemoryFile;
  std::expected<ReplacedBytes, int> publish(const std::string& name, Existing existing, Fd& fd);

  const std::size_t most_files_;
  mutable std::mutex mutex_;
  std::map<std::string, Fd, std::less<>> files_;
};

}  // namespace joust

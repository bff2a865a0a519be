// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "files/store/disk/directory_tree.hpp"
#include "files/store/upload/tree_storage.hpp"
#include "temporary_folder.hpp"

namespace joust::test {

// As long as this lives, the process may have that many descriptors.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t most) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit lowered = before_;
    lowered.rlim_cur = most;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &lowered), 0);
  }
  ~DescriptorLimit() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

inline std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

inline Digest digest_of(std::string_view text) {
  Digester digester;
  digester.add(as_bytes(text));
  return digester.value();
}

// Stores a part of a file, as an engine would.
inline void store(Upload& upload, std::string_view whole, ByteRange range, bool seen = true) {
  ASSERT_TRUE(upload.make_room(range));
  Bytes rest = as_bytes(whole.substr(range.offset, range.size));
  for (std::uint64_t offset = range.offset; !rest.empty();) {
    const auto n = upload.file().write_at(offset, rest);
    ASSERT_TRUE(n) << n.error();
    upload.stored({offset, *n}, seen ? rest.first(*n) : Bytes{});
    offset += *n;
    rest = rest.subspan(*n);
  }
}

// To its end.
inline FileAnswer<Upload::Check> check(Upload& upload) {
  for (;;)
    if (auto step = upload.check(); !step || step->digest) return step;
}

// As if no file had been changed for an hour.
inline const StorageRules kOldFiles{.timestamp_step = -std::chrono::hours(1)};

// A directory to be served, with a file and a directory in it.
class StorageTest : public testing::Test {
 protected:
  StorageTest() {
    std::filesystem::create_directories(folder_.file("root/sub"));
    std::ofstream(folder_.file("root/old")) << "old";
    std::ofstream(folder_.file("secret")) << "secret";
  }
  std::string path(const std::string& name) const { return folder_.file("root/" + name); }
  std::size_t entries(const std::string& name = ".") const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path(name)),
                                                  std::filesystem::directory_iterator{}));
  }
  TreeStorage& storage(const StorageRules& rules = {}) {
    if (!storage_)
      storage_ = std::make_unique<TreeStorage>(std::make_unique<DirectoryTree>(folder_.file("root")), rules);
    return *storage_;
  }

  TemporaryFolder folder_;
  std::unique_ptr<TreeStorage> storage_;
};

}  // namespace joust::test

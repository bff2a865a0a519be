// SPDX-License-Identifier: MIT
#include "files/store/upload/memory_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.hpp"
#include "base/system/files.hpp"

namespace joust {
namespace {

constexpr rlim_t kMostFiles = 1024;

std::expected<Fd, int> duplicate(const Fd& fd) {
  Fd other(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!other.is_open()) return std::unexpected(errno);
  return other;
}

}  // namespace

std::size_t most_files_in_memory() {
  return std::min(kMostFiles, descriptor_limit().rlim_cur / 4);
}

class MemoryTree::MemoryFile : public NewFile {
 public:
  MemoryFile(MemoryTree& tree, std::string_view name, Existing existing, Fd fd, Fd kept)
      : tree_(tree), name_(name), existing_(existing), kept_(std::move(kept)) {
    fd_ = std::move(fd);
  }
  std::expected<ReplacedBytes, int> take_name(int /*fd*/) override {
    return tree_.publish(name_, existing_, kept_);
  }
  void abandon() override { kept_.close(); }
  void release() override { abandon(); }

 private:
  MemoryTree& tree_;
  const std::string name_;
  const Existing existing_;
  Fd kept_;  // a duplicate, because the descriptor fd_ may be moved away
};

std::expected<Fd, int> MemoryTree::open(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(name);
  if (found == files_.end()) return std::unexpected(ENOENT);
  return duplicate(found->second);
}

std::expected<std::unique_ptr<NewFile>, int> MemoryTree::create(std::string_view name,
                                                                const NewFileRules& rules) {
  const Existing existing = rules.existing;
  if (name.contains('/')) return std::unexpected(ENOENT);
  {
    const std::lock_guard lock(mutex_);
    const bool is_there = files_.contains(name);
    if (is_there && existing == Existing::keep) return std::unexpected(EEXIST);
    if (!is_there && files_.size() >= most_files_) return std::unexpected(EMFILE);
  }
  Fd fd = memory_file("joust-upload");
  if (!fd.is_open()) return std::unexpected(errno);
  auto kept = duplicate(fd);
  if (!kept) return std::unexpected(kept.error());
  return std::make_unique<MemoryFile>(*this, name, existing, std::move(fd), std::move(*kept));
}

std::expected<ReplacedBytes, int> MemoryTree::publish(const std::string& name, Existing existing, Fd& fd) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(name);
  if (found == files_.end()) {
    if (files_.size() >= most_files_) return std::unexpected(EMFILE);
    files_.emplace(name, std::move(fd));
    return std::nullopt;
  }
  if (existing == Existing::keep) return std::unexpected(EEXIST);
  struct stat before {};
  if (::fstat(found->second.get(), &before) != 0) return std::unexpected(errno);
  found->second = std::move(fd);
  return static_cast<std::uint64_t>(before.st_size);
}

}  // namespace joust

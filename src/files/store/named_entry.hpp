// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "files/store/temporary_file.hpp"

namespace joust {

// A file or directory that has its final name and stays: only the sync is left.
class NamedEntry : public NewFile {
 public:
  // `tree` is borrowed. With a closed file, only the name is synced.
  NamedEntry(FolderTree& tree, std::string_view name, Parent parent, Fd file = {})
      : tree_(tree), name_(name), parent_(std::move(parent)) {
    fd_ = std::move(file);
  }

  std::expected<ReplacedBytes, int> publish(int fd, bool synced) override;
  std::expected<ReplacedBytes, int> take_name(int /*fd*/) override { return std::nullopt; }
  bool has_name() const override { return true; }
  int sync_folder(int fd) override { return sync_names(tree_, name_, folder(), fd); }
  int folder() const override { return parent_.fd->get(); }
  void abandon() override {}
  void let_go() override {}

 protected:
  const std::string& last_part() const { return parent_.last; }

 private:
  FolderTree& tree_;
  const std::string name_;
  const Parent parent_;
};

}  // namespace joust

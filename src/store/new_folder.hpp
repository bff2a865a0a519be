// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/temporary_file.hpp"

namespace joust {

// A directory that a peer asks for. It has its name as soon as it is made, and stays: only the disk is left
// to be waited for.
class NewFolder : public NewFile {
 public:
  // `tree` is borrowed.
  NewFolder(FolderTree& tree, std::string_view name, Parent parent)
      : tree_(tree), name_(name), parent_(std::move(parent)) {}

  // Makes it with these permission bits, or takes the directory that is there as it is. Returns the errno, or
  // 0: EEXIST if anything else has the name, EDQUOT if the quota has no room for it.
  int create(std::uint32_t mode, Quota* pays);
  bool was_there() const { return was_there_; }

  std::expected<ReplacedBytes, int> publish(int fd, bool synced) override;
  std::expected<ReplacedBytes, int> take_name(int /*fd*/) override { return std::nullopt; }
  int sync_folder() override;
  int folder() const override { return parent_.fd->get(); }
  void abandon() override {}
  void let_go() override {}

 private:
  int make(std::uint32_t mode);
  int take_existing();

  FolderTree& tree_;
  const std::string name_;
  const Parent parent_;
  bool was_there_ = false;
};

}  // namespace joust

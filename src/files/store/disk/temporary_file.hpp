// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "files/store/disk/directory.hpp"
#include "files/store/disk/file_tree.hpp"
#include "files/store/disk/folder_tree.hpp"

namespace joust {

// A new file of a directory. It has no name; where the file system has no nameless files, it has a hidden
// name beside its final one (temporary_name.hpp).
class TemporaryFile : public NewFile {
 public:
  // `tree` is borrowed.
  TemporaryFile(FolderTree& tree, std::string_view name, const NewFileRules& rules, Parent parent);
  ~TemporaryFile() override;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  virtual int create();  // returns the errno, or 0

  int complete(int fd) override;
  int confirm_folder() override;
  std::expected<ReplacedBytes, int> take_name(int fd) override;
  const ReplacedBytes* replaced() const override { return replaced_ ? &*replaced_ : nullptr; }
  int sync_folder(int fd) override;
  int folder() const override { return parent_.fd->get(); }
  void abandon() override;
  void let_go() override { abandon(); }

 protected:
  const NewFileRules& rules() const { return rules_; }
  const std::string& last_part() const { return parent_.last; }
  bool is_open() const { return !temporary_.empty(); }
  int open_as(std::string temporary, int flags);  // returns the errno, or 0
  int take(std::string temporary);                // notes the name of the open file; returns 0
  int may_be_made() const;                        // returns the errno, or 0
  const std::string& temporary() const { return temporary_; }
  void leave() { temporary_.clear(); }  // the file stays under its temporary name

 private:
  virtual void named();  // called once the file has its final name
  template <typename Make>
  int take_free_name(Make make);
  std::expected<ReplacedBytes, int> in_its_place() const;
  // The mode until the file gets the mode of its source. Before that, no other user may read it.
  mode_t first_mode() const { return rules_.mode ? 0600 : 0666; }
  int name_now(int fd);
  int rename_into_place() const;

  FolderTree& tree_;
  const std::string name_;
  const NewFileRules rules_;
  const Parent parent_;
  std::optional<ReplacedBytes> replaced_{};  // empty: the file has no final name yet
  std::string temporary_;                    // empty: the file has no name, or its final one
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <mutex>
#include <optional>
#include <string>

#include "store/directory.hpp"
#include "store/file_tree.hpp"
#include "store/recent_folder.hpp"
#include "store/synced_folders.hpp"

namespace joust {

// What the new files of one directory share. Any thread.
struct FolderTree {
  const Directory directory;
  std::mutex publishing{};  // the file replaced must be the one whose size was counted
  SyncedFolders synced;
  RecentFolder recent{};
};

// Puts a name onto the disk, with those of the directories on the way to it: one of them may have been made a
// moment ago. `folder` is a handle of the last one, and `file` the open file, or -1. Returns the errno, or 0.
int sync_names(FolderTree& tree, std::string_view name, int folder, int file);

// A new file of a directory: without a name, or where the file system has no such files under a hidden name
// beside its final one (temporary_name.hpp).
class TemporaryFile : public NewFile {
 public:
  // `tree` is borrowed.
  TemporaryFile(FolderTree& tree, std::string_view name, const NewFileRules& rules, Parent parent);
  ~TemporaryFile() override;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  virtual int create();  // returns the errno, or 0

  std::expected<ReplacedBytes, int> publish(int fd, bool synced) override;
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
  int take(std::string temporary);                // the open file has this name; returns 0
  int may_be_made() const;                        // likewise
  const std::string& temporary() const { return temporary_; }
  void leave() { temporary_.clear(); }  // the file stays under its temporary name

 private:
  virtual void named();  // it has its final name now
  template <typename Make>
  int take_free_name(Make make);
  std::expected<ReplacedBytes, int> in_its_place() const;
  // Nobody else may read it before it has the mode of its source.
  mode_t first_mode() const { return rules_.mode ? 0600 : 0666; }
  int name_now(int fd);
  int rename_into_place() const;

  FolderTree& tree_;
  const std::string name_;
  const NewFileRules rules_;
  const Parent parent_;
  std::optional<ReplacedBytes> replaced_{};  // nothing: it has no name yet
  std::string temporary_;                    // empty: the file has no name, or its final one
};

}  // namespace joust

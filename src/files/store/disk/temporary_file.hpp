// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "files/store/disk/directory.hpp"
#include "files/store/disk/file_tree.hpp"

// The names of files that have no final name yet. A temporary name follows from the final one, so that the
// next upload of the final name finds the file that a killed process left. The process that writes such a
// file holds its lock (flock), and no process removes a locked file.
namespace joust {

// The kinds of temporary names: for large files, which outlive their process; for their journals; and for all
// other files.
inline constexpr std::string_view kPartialFile = "partial-", kJournalFile = "journal-", kNewFile = "new-";

// Returns the temporary name for a final name. It contains the digest of the final name, because that may
// have the maximum length already. `number` distinguishes files of one name that are written at the same
// time.
std::string temporary_name(std::string_view kind, std::string_view last_part, unsigned number = 0);

// True if a file of this name may have been left by an interrupted process.
bool is_temporary(std::string_view name);

// Locks an open file. Returns the errno, or 0: EBUSY if another process holds the lock. Returns 0 without a
// lock where the file system has no locks. There, two processes that receive one file at the same time damage
// each other's bytes; the digest detects that at the end.
int lock_file(int fd);

// True for a regular file of this user with one name. A file that another user has put there might be read by
// that user, or be a link to something else.
bool is_own(const struct stat& facts);
// True if the name still refers to the open file.
bool is_named(int fd, int folder, const std::string& name);

// Removes the file of that name. Returns the errno, or 0: ENOENT if no such file exists, EBUSY if it is
// locked.
int remove_left(int folder, const std::string& name);
// Removes an interrupted large file with its journal, unless it is being resumed. Returns whether it is gone;
// false if there was none.
bool remove_partial(int folder, std::string_view last_part);
// Removes the temporary one of two names of a file, whose `facts` these are. A process that was killed
// between linkat() and unlinkat() leaves a file with two names.
void remove_second_name(int folder, std::string_view last_part, const struct stat& facts);

// A new file of a directory. It has no name; where the file system has no nameless files, it has a hidden
// name beside its final one (temporary_name()).
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
  std::string_view folder_path() const override;
  void abandon() override;
  void release() override { abandon(); }

 protected:
  const NewFileRules& rules() const { return rules_; }
  const std::string& last_part() const { return parent_.last; }
  bool is_open() const { return !temporary_.empty(); }
  int open_as(std::string temporary, int flags);  // returns the errno, or 0
  int take(std::string temporary);                // notes the name of the open file; returns 0
  int check_existing() const;                     // returns the errno, or 0
  const std::string& temporary() const { return temporary_; }
  void leave() { temporary_.clear(); }  // the file stays under its temporary name

 private:
  virtual void on_named();  // called once the file has its final name
  template <typename Make>
  int take_free_name(Make make);
  std::expected<ReplacedBytes, int> existing_size() const;
  // The mode until the file gets the mode of its source. Before that, no other user may read it.
  mode_t first_mode() const { return rules_.mode ? 0600 : 0666; }
  int set_name(int fd);
  int rename_into_place() const;

  FolderTree& tree_;
  const std::string name_;
  const NewFileRules rules_;
  const Parent parent_;
  std::optional<ReplacedBytes> replaced_{};  // empty: the file has no final name yet
  std::string temporary_;                    // empty: the file has no name, or its final one
};

}  // namespace joust

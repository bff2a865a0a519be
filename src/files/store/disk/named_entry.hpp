// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "files/store/disk/directory.hpp"
#include "files/store/disk/file_tree.hpp"
#include "files/store/disk/group_commit.hpp"
#include "files/store/storage.hpp"

namespace joust {

// A file or directory that has its final name and stays: only the sync is left.
class NamedEntry : public NewFile,
                   public StoredEntry,
                   public GroupCommit::Member,
                   public std::enable_shared_from_this<NamedEntry> {
 public:
  using Answer = std::expected<std::shared_ptr<NamedEntry>, int>;

  // Finds an existing regular file; EISDIR or ENODEV for any other kind. `tree` is borrowed.
  static Answer find(FolderTree& tree, std::string_view name);
  // Makes a directory with the mode of the rules. An existing directory is taken as it is, or gets the mode
  // if existing ones are to be replaced. Fails with EEXIST if anything else has the name, and with EDQUOT if
  // the quota has no room for the directory. `tree` is borrowed.
  static Answer make_folder(FolderTree& tree, std::string_view name, Parent parent,
                            const NewFileRules& rules);

  // Returns false if the disk has failed to take this version before. A failure of sync() is noted in the
  // tree. Call before sync().
  [[nodiscard]] bool watch();
  // Syncs the entry on a thread of `commits`. If `commits` is null or cannot start one, this call does the
  // work and waits for the disk. Call at most once.
  void sync(GroupCommit* commits);

  bool was_there() const override { return was_there_; }
  FileAnswer<bool> is_on_disk() override;

  std::expected<ReplacedBytes, int> take_name(int /*fd*/) override { return std::nullopt; }
  bool has_name() const override { return true; }
  int sync_folder(int fd) override { return tree_.sync_names(name_, folder(), fd); }
  int folder() const override { return parent_.fd->get(); }
  void abandon() override {}
  void release() override {}

  NewFile& new_file() override { return *this; }
  int number() const override { return fd_.get(); }
  void committed(std::expected<ReplacedBytes, int> published) override;

 private:
  // With a closed file, only the name is synced.
  NamedEntry(FolderTree& tree, std::string_view name, Parent parent, Fd file)
      : tree_(tree), name_(name), parent_(std::move(parent)) {
    fd_ = std::move(file);
  }
  int create_folder(const NewFileRules& rules);
  int make(std::uint32_t mode);
  int take_existing();
  int set_mode(std::uint32_t mode);
  bool is_large() const;
  bool begin_sync(GroupCommit& commits);

  FolderTree& tree_;
  const std::string name_;
  const Parent parent_;
  bool was_there_ = true;
  bool is_watched_ = false;
  FileVersion version_{};  // watched
  std::mutex mutex_;
  bool is_waiting_ = false;  // protected by mutex_
  int error_ = 0;            // an errno; protected by mutex_
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "files/store/failed_syncs.hpp"
#include "files/store/group_commit.hpp"
#include "files/store/storage.hpp"

namespace joust {

// An existing file or directory. If it is to be synced, it becomes a member of the next group of GroupCommit.
class DiskEntry : public StoredEntry,
                  public GroupCommit::Member,
                  public std::enable_shared_from_this<DiskEntry> {
 public:
  explicit DiskEntry(Entry made) : was_there_(made.was_there), place_(std::move(made.place)) {}

  // Returns false if the disk has failed to take this version before. A failure of sync() is noted in
  // `failed`, which is borrowed. Call before sync().
  [[nodiscard]] bool watch(FailedSyncs& failed, const FileVersion& version);
  // Syncs the entry as a member of `commits`. If `commits` is null or cannot start its thread, `thread` does
  // the work. If `thread` is null or cannot be started, this call does the work and waits for the disk. Call
  // at most once.
  void sync(GroupCommit* commits, DigestWorker* thread = nullptr);

  bool was_there() const override { return was_there_; }
  FileAnswer<bool> is_on_disk() override;

  NewFile& place() override { return *place_; }
  int number() const override { return place_->descriptor().get(); }
  void committed(std::expected<ReplacedBytes, int> published) override;

 private:
  const bool was_there_;
  const std::unique_ptr<NewFile> place_;
  FailedSyncs* failed_ = nullptr;
  FileVersion version_{};
  std::mutex mutex_;
  bool is_waiting_ = false;  // protected by mutex_
  int error_ = 0;            // an errno; protected by mutex_
};

}  // namespace joust

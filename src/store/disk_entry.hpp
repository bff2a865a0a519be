// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "store/failed_syncs.hpp"
#include "store/group_commit.hpp"
#include "store/storage.hpp"

namespace joust {

// A file or directory that is there. Where the disk is to have it, it is a member of the group that comes
// next.
class DiskEntry : public StoredEntry,
                  public GroupCommit::Member,
                  public std::enable_shared_from_this<DiskEntry> {
 public:
  explicit DiskEntry(Entry made) : was_there_(made.was_there), place_(std::move(made.place)) {}

  // False if the disk has failed to take this version before. If it fails now, that is noted. Borrowed; call
  // before sync().
  [[nodiscard]] bool watch(FailedSyncs& failed, const FileVersion& version);
  // With a group it becomes a member, without one the thread waits for the disk by itself, and without that
  // (null), or where no thread can be started, this does. Call at most once.
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
  int error_ = 0;            // likewise: an errno
};

}  // namespace joust

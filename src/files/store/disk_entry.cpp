// SPDX-License-Identifier: MIT
#include "files/store/disk_entry.hpp"

#include <cerrno>

namespace joust {

bool DiskEntry::watch(FailedSyncs& failed, const FileVersion& version) {
  failed_ = &failed;
  version_ = version;
  return !failed.has(version);
}

void DiskEntry::sync(GroupCommit* commits, DigestWorker* thread) {
  {
    const std::lock_guard lock(mutex_);
    is_waiting_ = true;
  }
  if (commits != nullptr && commits->add(shared_from_this())) return;
  // An entry whose connection has ended is not synced.
  const auto publish = [entry = weak_from_this()] {
    if (const auto self = entry.lock()) self->publish_alone();
  };
  if (thread != nullptr && thread->take(publish)) return;
  publish_alone();
}

void DiskEntry::committed(std::expected<ReplacedBytes, int> published) {
  if (failed_ != nullptr) {
    if (!published) failed_->note(version_, published.error());
    // The group had another entry of the same file, which got the failure.
    if (published && failed_->has(version_)) published = std::unexpected(EIO);
  }
  const std::lock_guard lock(mutex_);
  is_waiting_ = false;
  error_ = published ? 0 : published.error();
}

FileAnswer<bool> DiskEntry::is_on_disk() {
  const std::lock_guard lock(mutex_);
  if (error_ != 0) return refused(error_of(error_));
  return !is_waiting_;
}

}  // namespace joust

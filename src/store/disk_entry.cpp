// SPDX-License-Identifier: MIT
#include "store/disk_entry.hpp"

namespace joust {

void DiskEntry::tell(FailedSyncs& failed, const FileVersion& version) {
  failed_ = &failed;
  version_ = version;
}

void DiskEntry::sync(GroupCommit* commits, DigestWorker* thread) {
  {
    const std::lock_guard lock(mutex_);
    is_waiting_ = true;
  }
  if (commits != nullptr && commits->add(shared_from_this())) return;
  if (thread != nullptr && thread->take([self = shared_from_this()] { self->publish_alone(); })) return;
  publish_alone();
}

void DiskEntry::committed(std::expected<ReplacedBytes, int> published) {
  if (failed_ != nullptr && !published) failed_->note(version_, published.error());
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

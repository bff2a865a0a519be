// SPDX-License-Identifier: MIT
#include "files/store/failed_syncs.hpp"

#include <cerrno>

namespace joust {

void FailedSyncs::note(const FileVersion& file, int error) {
  const bool is_of_disk = error == EIO || error == ENOSPC || error == EDQUOT;
  const std::lock_guard lock(mutex_);
  if (is_of_disk && files_.size() <= kMost) files_.insert(file);
}

bool FailedSyncs::has(const FileVersion& file) const {
  const std::lock_guard lock(mutex_);
  return files_.size() > kMost || files_.contains(file);
}

}  // namespace joust

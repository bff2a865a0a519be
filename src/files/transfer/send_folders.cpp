// SPDX-License-Identifier: MIT
//
// The directories of the files that are sent: which connection asks for them, and when.
#include "files/transfer/send.hpp"

namespace joust::transfer {

// Under the lock.
bool SendTransfer::may_ask_for_folder(const Asker& asker) {
  if (folders_asked_ > 0 && folder_session_ != asker.session) return false;
  folder_session_ = asker.session;
  ++folders_asked_;
  return true;
}

// Under the lock. `is_there`: the directory exists with a mode that this transfer has given it.
void SendTransfer::folder_done(const Work& work, bool is_there) {
  --folders_asked_;
  if (work.is_last) return;
  const SourceItem& item = plan_.items[work.item];
  if (is_there && item.is_on_way && (item.version.mode & kOwnersPermissions) != kOwnersPermissions)
    closed_.push_back(work.item);
  if (--folders_left_ == 0) announce();
}

void SendTransfer::folder_is_there(const Work& work, bool by_this) {
  progressed();
  const std::lock_guard lock(mutex_);
  if (by_this && !work.is_last && !plan_.items[work.item].is_on_way) ++count().folders;
  folder_done(work, by_this || plan_.wishes.overwrites);
  item_done();
}

}  // namespace joust::transfer

// SPDX-License-Identifier: MIT
//
// Resumes an upload with the bytes that an earlier attempt left.
#include "files/store/upload/disk_upload.hpp"

namespace joust {

// Digests from milestone to milestone. At the first wrong milestone the digest returns to the one before.
Upload::Recall DiskUpload::recall() {
  const std::scoped_lock lock(digesting_, mutex_);
  Recall recall{.verified = right_ == 0 ? 0 : found_[right_ - 1].end};
  bool wrong = false;
  if (right_ < found_.size()) {
    const Milestone& next = found_[right_];
    wrong = !digest_.advance(file_, next.end);
    if (!wrong && digest_.done() < next.end) return recall;
    wrong = wrong || digest_.value() != next.digest;
    if (!wrong) recall.verified = found_[right_++].end;
    if (!wrong) digest_.mark();
  }
  if (!wrong && right_ < found_.size()) return recall;
  digest_.forget_from(recall.verified);
  place_->keep_milestones(right_);
  // The quota does not count the bytes beyond the last right milestone, so their disk space is freed. A
  // mapped file keeps its size.
  if (right_ < found_.size()) file_.free_room(recall.verified, size_ - recall.verified);
  noted_ = recall.verified;
  there_ = recall.verified;
  taken_.insert(0, recall.verified);
  stored_.insert(0, recall.verified);
  finished_.insert(0, recall.verified);
  share_->resume({0, recall.verified});
  recall.discarded = place_->discarded();
  recall.complete = recalled_ = true;
  return recall;
}

}  // namespace joust

// SPDX-License-Identifier: MIT
//
// How an upload ends: it is sealed, checked and published, or let go.
#include <unistd.h>

#include <cerrno>

#include "base/check.hpp"
#include "store/disk_upload.hpp"

namespace joust {
namespace {

constexpr std::uint64_t kQuickSync = 1 << 20;  // bytes: fewer are synced by the loop, if they come in ranges

}  // namespace

FileAnswer<void> DiskUpload::seal(const std::optional<Digest>& digest) {
  const std::lock_guard lock(mutex_);
  if (!outlives_) return refused(FileError::malformed, "the upload was not offered");
  if (!recalled_ || there_ != size_) return refused(FileError::malformed, "not all of the file has come");
  if (over_.exchange(true)) return refused(FileError::malformed, "the upload is sealed already");
  slot_.reset();
  expected_ = digest;
  return {};
}

FileAnswer<Upload::Check> DiskUpload::check() {
  const std::scoped_lock lock(digesting_, mutex_);
  const auto through = digest_.advance(file_);
  if (!through) return refused(error_of(through.error() == 0 ? EIO : through.error()));
  if (!*through) return Check{digest_.done()};
  if (waits_for_disk()) return Check{.checked = size_, .waits = true};
  return conclude();
}

// A disk may take a minute for what has come: a thread waits for it, and not all peers of the loop. An error
// is told once only, so that it is kept.
bool DiskUpload::waits_for_disk() {
  if (sync_ == kNotBegun && synced_ && !rehearsal_ && is_right()) {
    sync_ = kRunning;
    if (!begin_sync()) sync_ = 0;  // publish() waits for the disk
  }
  return sync_ == kRunning;
}

// What comes whole is published together with what follows it. What comes in ranges has a mode of its own
// until it has its name, and is large.
bool DiskUpload::begin_sync() {
  if (commits_ != nullptr && !outlives_) return commits_->add(shared_from_this());
  if (size_ < kQuickSync || worker_ == nullptr) return false;
  return worker_->take([upload = shared_from_this()] {
    const int fd = upload->file_.number();
    upload->sync_ended(retry_interrupted([&] { return ::fsync(fd); }) == 0 ? 0 : errno);
  });
}

// The upload may have been let go meanwhile.
void DiskUpload::sync_ended(int error) {
  bool is_let_go = false;
  {
    const std::lock_guard lock(mutex_);
    sync_ = error;
    is_let_go = let_go_;
  }
  if (is_let_go) let_go();
}

void DiskUpload::committed(std::expected<ReplacedBytes, int> published) {
  {
    const std::lock_guard lock(mutex_);
    published_ = published;
    if (published) share_->keep(*published);
  }
  sync_ended(0);
}

FileAnswer<Upload::Check> DiskUpload::conclude() {
  const Digest digest = digest_.value();
  const bool right = is_right();
  if (sync_ > 0) {
    place_->abandon();  // as publish() does then
    return refused(error_of(sync_), "the disk did not take what has come");
  }
  if (right && !rehearsal_ && !published_) {
    published_ = place_->publish(file_.number(), synced_);
    if (*published_) share_->keep(**published_);
  }
  const bool has_name = published_ && *published_;
  // Removes an unpublished file, even if others still refer to this upload. One that outlives this and has
  // the right bytes may get its name at the next attempt.
  if (!right || has_name || !outlives_) place_->abandon();
  if (!right) return refused(FileError::digest_differs, "what has come has the digest " + to_hex(digest));
  if (published_ && !*published_) return refused(error_of(published_->error()));
  return Check{size_, digest};
}

DiskUpload::~DiskUpload() {
  DiskUpload::let_go();
}

// The bytes of a file that stays count in the quota until its name is brought again.
void DiskUpload::let_go() {
  const std::scoped_lock lock(digesting_, mutex_);
  let_go_ = true;
  if (sync_ == kRunning) return;  // its error is told to nobody else
  if (sync_ > 0) place_->abandon();
  // However little came: on a link that fails often, each connection is to have been of use.
  if (outlives_ && digest_.done() > noted_) place_->note({digest_.done(), digest_.value()});
  if (kept_ != nullptr && place_->stays())
    kept_->keep(name_, std::move(share_), end_of(place_->milestones()));
  place_->let_go();
}

}  // namespace joust

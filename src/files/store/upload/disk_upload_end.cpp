// SPDX-License-Identifier: MIT
//
// The end of an upload: it is sealed, checked and published, or let go.
#include <cerrno>
#include <new>
#include <utility>

#include "files/store/upload/disk_upload.hpp"

namespace joust {
namespace {

constexpr int kLastSlices = 4;  // digested at an interruption

}  // namespace

bool DiskUpload::awaits_seal() const {
  const std::lock_guard lock(mutex_);
  return outlives_ && recalled_ && there_ == size_ && !over_;
}

FileAnswer<void> DiskUpload::seal(const std::optional<Digest>& digest) {
  const std::lock_guard lock(mutex_);
  if (!outlives_) return refused(FileError::malformed, "the upload was not offered");
  if (!recalled_ || there_ != size_) return refused(FileError::malformed, "not all of the file has come");
  if (over_.exchange(true)) return refused(FileError::malformed, "the upload is sealed already");
  if (!is_published_alone()) slot_.reset();
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

// Lets a thread wait for the disk, which may take a minute for the bytes received. Otherwise all peers of the
// loop would wait.
bool DiskUpload::waits_for_disk() {
  if (sync_ == Sync::not_begun && synced_ && !rehearsal_ && is_right()) {
    // If no thread takes the work, conclude() waits for the disk. The thread needs this lock before it can
    // report the end.
    sync_ = begin_sync() ? Sync::running : Sync::over;
  }
  return sync_ == Sync::running;
}

// True for a large synced file. Small files are published together with files that follow them, and a large
// one would delay those. A large file keeps its slot until it is published.
bool DiskUpload::is_published_alone() const {
  return publisher_ != nullptr && synced_ && !rehearsal_ && size_ >= kPublishedAlone;
}

bool DiskUpload::begin_sync() {
  if (!is_published_alone()) return commits_ != nullptr && commits_->add(shared_from_this());
  return publisher_->take([upload = shared_from_this()] { upload->publish_alone(); });
}

// The upload may have been let go meanwhile.
void DiskUpload::committed(std::expected<ReplacedBytes, int> published) {
  bool is_let_go = false;
  {
    const std::lock_guard lock(mutex_);
    published_ = published;
    keep_share();
    slot_.reset();
    sync_ = Sync::over;
    is_let_go = let_go_;
  }
  if (is_let_go) let_go();
}

// Keeps the share also if the file has its name and the disk has refused the folder.
void DiskUpload::keep_share() {
  const ReplacedBytes* const replaced = *published_ ? &**published_ : place_->replaced();
  if (replaced != nullptr && !std::exchange(is_share_kept_, true)) share_->keep(*replaced);
}

FileAnswer<Upload::Check> DiskUpload::conclude() {
  const Digest digest = digest_.value();
  const bool right = is_right();
  if (right && !rehearsal_ && !published_) {
    published_ = place_->publish(file_.number(), synced_);
    keep_share();
  }
  const bool has_name = published_ && *published_;
  // Removes an unpublished file, even if others still refer to this upload. Keeps a file that outlives an
  // interruption and has the right bytes: it may get its name at the next attempt.
  if (!right || has_name || !outlives_) place_->abandon();
  if (!right) return refused(FileError::digest_differs, "what has come has the digest " + to_hex(digest));
  if (published_ && !*published_) return not_published(published_->error());
  return Check{size_, digest};
}

// Reopens the upload after a shortage: the sender then seals it once more.
std::unexpected<FileRefusal> DiskUpload::not_published(int error) {
  if (outlives_ && error_of(error) == FileError::busy) {
    published_.reset();
    sync_ = Sync::not_begun;
    over_ = false;
  }
  return refused(error_of(error));
}

// No thread publishes the upload now, because such a thread would hold a reference.
DiskUpload::~DiskUpload() {
  sync_ = Sync::over;
  DiskUpload::let_go();
}

void DiskUpload::let_go() noexcept {
  const std::scoped_lock lock(digesting_, mutex_);
  let_go_ = true;
  if (sync_ == Sync::running) return;  // committed() continues when the file is published or has failed
  try {
    leave_for_the_next();
  } catch (const std::bad_alloc&) {
    // The file stays with fewer notes than bytes, and the quota gets its bytes back. The next attempt finds
    // the file.
  }
  place_->let_go();
}

// Leaves a file from the first MiB on, so that each connection makes progress on a link that fails often. The
// bytes of a file that stays count in the quota until its name is uploaded again.
void DiskUpload::leave_for_the_next() {
  // Digests the rest: bytes moved by the kernel are digested in larger parts. The number of slices is
  // limited, because a loop may be waiting.
  for (int slice = 0; outlives_ && slice < kLastSlices && digest_.done() < finished_.end_of(0); ++slice)
    if (!digest_.advance(file_, finished_.end_of(0))) break;
  if (outlives_ && digest_.done() > noted_) place_->note({digest_.done(), digest_.value()});
  if (kept_ == nullptr || !place_->stays()) return;
  kept_->keep(name_, std::move(share_), end_of(place_->milestones()), from_);
}

}  // namespace joust

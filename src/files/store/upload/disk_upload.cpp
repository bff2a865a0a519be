// SPDX-License-Identifier: MIT
#include "files/store/upload/disk_upload.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/available.hpp"
#include "base/check.hpp"
#include "files/store/disk/disk_space.hpp"

namespace joust {
namespace {

// The limit of separate ranges, for peers that send every second byte alone.
constexpr std::size_t kMostPieces = 4096;

// A mapping takes address space for the whole file before any byte arrives, so an announced size alone is
// limited.
constexpr std::uint64_t kLargestMapped = 1ULL << 30;

// Waking the worker is worth it from this size on. If the worker falls too far behind, for example without a
// core of its own, the storing thread digests again. Ranges that come over many connections are complete at
// about the same time, so that a lot may become due at once.
constexpr std::uint64_t kWorkersPart = 1 << 20;
constexpr std::uint64_t kMostBehind = 64 << 20;

// True if the file can be filled by a mapping. The file then has its size, but no disk space yet.
FileAnswer<bool> may_be_mapped(int fd, std::uint64_t size) {
  if (size > kLargestMapped) return false;
  if (retry_interrupted([&] { return ::ftruncate(fd, static_cast<off_t>(size)); }) != 0)
    return refused(error_of(errno));
  // Without reserved space a mapping could end the process.
  const int error = reserve(fd, 0, std::min<std::uint64_t>(size, 1));
  if (error == EOPNOTSUPP || error == ENOSYS || error == EPERM) return false;
  if (error != 0) return refused(error_of(error));
  return true;
}

// Takes over the share of an earlier attempt, because its bytes are counted there.
FileAnswer<std::unique_ptr<QuotaShare>> share_of(const UploadRequest& request, std::uint64_t needed,
                                                 const UploadRules& rules) {
  const bool outlives = rules.kept != nullptr && request.wishes && request.wishes->outlives;
  if (outlives)
    if (auto share = rules.kept->take(request.name)) return share;
  return QuotaShare::begin(*rules.quota, needed, outlives ? 2 : 1);
}

// The wanted way to fill the file, or the next best one.
FileAnswer<FileWrite> possible_way(int fd, std::uint64_t needed, std::uint64_t size, FileWrite how) {
  if (const Available room = available_space(fd, needed); needed > room.bytes)
    return refused(FileError::no_space, shortage(needed, room));
  if (how != FileWrite::mmap) return how;
  const auto mapped = may_be_mapped(fd, size);
  if (!mapped) return std::unexpected(mapped.error());
  return *mapped ? how : FileWrite::write;
}

}  // namespace

FileAnswer<std::shared_ptr<DiskUpload>> DiskUpload::begin(std::unique_ptr<NewFile> place,
                                                          std::unique_ptr<UploadSlot> slot,
                                                          const UploadRequest& request,
                                                          const UploadRules& rules) {
  const int fd = place->descriptor().get();
  // The bytes of an earlier attempt are on the disk already.
  const std::uint64_t needed = request.size - std::min(request.size, end_of(place->milestones()));
  auto share = share_of(request, needed, rules);
  if (!share) return std::unexpected(share.error());
  const auto how = possible_way(fd, needed, request.size, rules.how);
  if (!how) {
    if (rules.kept != nullptr && place->stays())
      rules.kept->keep(request.name, std::move(*share), end_of(place->milestones()), request.from.address);
    return std::unexpected(how.error());
  }
  UploadRules possible = rules;
  possible.how = *how;
  auto upload = std::make_shared<DiskUpload>(std::move(place), std::move(*share), request, possible);
  upload->slot_ = std::move(slot);
  return upload;
}

DiskUpload::DiskUpload(std::unique_ptr<NewFile> place, std::unique_ptr<QuotaShare> share,
                       const UploadRequest& request, const UploadRules& rules)
    : name_(request.name),
      size_(request.size),
      expected_(request.digest),
      rehearsal_(request.rehearsal),
      outlives_(request.wishes && request.wishes->outlives),
      synced_(request.wishes && request.wishes->synced),
      from_(request.from.address),
      place_(std::move(place)),
      share_(std::move(share)),
      kept_(rules.kept),
      file_(std::move(place_->descriptor()), request.size, rules.how, rules.plain),
      digest_(request.size),
      worker_(rules.worker),
      publisher_(rules.publisher),
      commits_(rules.commits),
      found_(place_->milestones()) {}

bool DiskUpload::same(const UploadRequest& request) const {
  if (request.begun) return request.size == size_ && outlives_;
  if (outlives_ || (request.wishes && request.wishes->outlives)) return false;
  return request.size == size_ && request.digest == expected_ && request.rehearsal == rehearsal_;
}

FileAnswer<void> DiskUpload::take(ByteRange range) {
  const std::lock_guard lock(mutex_);
  if (range.offset > size_ || range.size > size_ - range.offset)
    return refused(FileError::beyond_end, "the range is not in the file");
  if (over_) return refused(FileError::overlap, "the upload is complete");
  if (outlives_ && !recalled_) return refused(FileError::busy, "what is there is still being looked at");
  if (size_ == 0) return {};
  if (taken_.pieces() >= kMostPieces) return refused(FileError::busy, "too many loose ranges");
  if (!taken_.insert(range.offset, range.end()))
    return refused(FileError::overlap, "some of the range is there already, or it is empty");
  return {};
}

bool DiskUpload::has(ByteRange range) {
  const std::lock_guard lock(mutex_);
  return outlives_ && !over_ && range.size > 0 && finished_.end_of(range.offset) >= range.end();
}

// Ends the upload if the memory is missing to note that the range is free again: no connection could send the
// range then, and the client offers the upload again. Connections that end call this, and cannot fail.
void DiskUpload::give_back(ByteRange range) noexcept {
  const std::scoped_lock lock(digesting_, mutex_);
  try {
    free_range(range);
  } catch (const std::bad_alloc&) {
    over_ = true;
  }
}

void DiskUpload::free_range(ByteRange range) {
  taken_.erase(range.offset, range.end());
  const std::uint64_t arrived = std::min(range.end(), stored_.end_of(range.offset));
  stored_.erase(range.offset, arrived);
  free_room(arrived, range.end());
  // The range may be stored again with other bytes than those digested.
  digest_.forget_from(range.offset);
}

// Drops the milestones that end beyond the start of the range: a milestone covers all bytes up to its end.
// The digest returns to a place before the range.
void DiskUpload::distrust(ByteRange range) {
  const std::scoped_lock lock(digesting_, mutex_);
  stored_.erase(range.offset, std::min(range.end(), stored_.end_of(range.offset)));
  digest_.forget_from(range.offset);
  const auto noted = place_->milestones();
  const auto wrong = std::ranges::upper_bound(noted, range.offset, {}, &Milestone::end);
  place_->keep_milestones(static_cast<std::size_t>(wrong - noted.begin()));
  noted_ = end_of(place_->milestones());
}

// Frees the room of bytes that were announced and did not arrive. Otherwise a peer would keep room by
// announcing them.
void DiskUpload::free_room(std::uint64_t begin, std::uint64_t end) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (first < last && file_.free_room(first, last - first)) share_->give_back({first, last - first});
}

FileAnswer<void> DiskUpload::make_room(ByteRange part) {
  {
    const std::lock_guard lock(mutex_);
    if (auto room = share_->take(part); !room) return room;
  }
  const int error = file_.make_room(part.offset, part.size);
  if (error != 0) return refused(error_of(error), "the disk has no room for what comes");
  return {};
}

std::uint64_t DiskUpload::stored_from(std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  return stored_.end_of(offset);
}

// Digests data soon after it is stored, while it is in the processor's cache, so that the digest is complete
// soon after the last byte. Each part digests up to twice its size, to catch up with ranges that arrived out
// of order and with parts that arrived while another thread was digesting.
void DiskUpload::stored(ByteRange part, Bytes seen) {
  std::uint64_t behind = 0;  // bytes that could be digested
  {
    const std::lock_guard lock(mutex_);
    stored_.insert(part.offset, part.end());
    const std::uint64_t done = digest_.done();
    behind = stored_.end_of(done) - done;
  }
  stored_bytes_ += part.size;
  if (slot_) slot_->made_progress(Clock::now());
  const bool is_next = !seen.empty() && part.offset == digest_.done();
  if (!is_next && left_to_worker(behind)) return;
  const std::unique_lock digesting(digesting_, std::try_to_lock);
  if (!digesting) return;
  if (is_next) mark_digest();
  digest_.seen(part.offset, seen);
  const std::uint64_t most = digest_.done() + 2 * part.size;
  digest_up_to(std::min(most, stored_from(digest_.done())));
}

// Marks the digest while it is within bytes that never change, and returns the end of those bytes: the bytes
// before the first unfinished range. A range that is lost with its connection is sent again, perhaps with
// other bytes; the digest then returns to the mark.
std::uint64_t DiskUpload::mark_digest() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t unchanging = finished_.end_of(0);
  if (digest_.done() <= unchanging) digest_.mark();
  return unchanging;
}

// Digests a slice, or two around a mark; false if there was nothing to do.
bool DiskUpload::digest_up_to(std::uint64_t end) {
  const std::uint64_t before = digest_.done();
  // A read error recurs in check(), which reports it.
  if (const std::uint64_t unchanging = mark_digest(); before < unchanging && unchanging < end) {
    static_cast<void>(digest_.advance(file_, unchanging));
    mark_digest();
  }
  static_cast<void>(digest_.advance(file_, end));
  note_milestone();
  return digest_.done() > before;
}

void DiskUpload::note_milestone() {
  if (!outlives_ || digest_.done() < noted_ + milestone_distance(size_)) return;
  noted_ = digest_.done();
  place_->note({noted_, digest_.value()});
}

// True if the worker digests the stored bytes. A worker that is late is called all the same: it may only have
// begun again.
bool DiskUpload::left_to_worker(std::uint64_t behind) {
  if (worker_ == nullptr) return false;
  if (behind >= kWorkersPart && !called_.exchange(true)) {
    // Takes a reference for each slice: an upload whose connections have all ended is not kept.
    const bool taken = worker_->take([upload = weak_from_this()] {
      if (const auto self = upload.lock()) self->called_ = false;
      for (bool more = true; more;) {
        const auto self = upload.lock();
        more = self && self->catch_up();
      }
    });
    if (!taken) called_ = false;
    if (!taken) return false;
  }
  return behind <= kMostBehind;
}

// Digests one slice of the stored bytes; false if none was left. check() waits for the slice, and then
// digests the rest.
bool DiskUpload::catch_up() {
  const std::lock_guard digesting(digesting_);
  return !over_ && digest_up_to(stored_from(digest_.done()));
}

void DiskUpload::joined_by(const Uploader& other) {
  const std::lock_guard lock(mutex_);
  if (slot_) slot_->join(other.connection);
}

bool DiskUpload::finish(ByteRange range) {
  const std::lock_guard lock(mutex_);
  finished_.insert(range.offset, range.end());
  there_ += range.size;
  if (outlives_ || there_ < size_ || over_.exchange(true)) return false;
  if (!is_published_alone()) slot_.reset();
  return true;
}

}  // namespace joust

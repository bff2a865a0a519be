// SPDX-License-Identifier: MIT
#include "files/store/upload/disk_upload.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/check.hpp"
#include "base/limits.hpp"

namespace joust {
namespace {

constexpr int kLastSlices = 4;  // digested at an interruption

}  // namespace

bool UploadDigest::advance_to(std::uint64_t end, std::uint64_t unchanging) {
  const std::uint64_t before = done();
  mark_within(unchanging);
  if (before < unchanging && unchanging < end) {
    static_cast<void>(digest_.advance(file_, unchanging));
    mark_within(unchanging);
  }
  static_cast<void>(digest_.advance(file_, end));
  note_milestone();
  return done() > before;
}

void UploadDigest::note_milestone() {
  if (!has_journal_ || done() < noted_ + milestone_distance(size_)) return;
  noted_ = done();
  new_file_.note({noted_, digest_.value()});
}

// At the first wrong milestone the digest returns to the one before.
Upload::Resumption UploadDigest::resume() {
  Upload::Resumption resumption{.verified = right_ == 0 ? 0 : found_[right_ - 1].end};
  bool wrong = false;
  if (right_ < found_.size()) {
    const Milestone& next = found_[right_];
    wrong = !digest_.advance(file_, next.end);
    if (!wrong && done() < next.end) return resumption;
    wrong = wrong || digest_.value() != next.digest;
    if (!wrong) resumption.verified = found_[right_++].end;
    if (!wrong) digest_.mark();
  }
  if (!wrong && right_ < found_.size()) return resumption;
  digest_.forget_from(resumption.verified);
  new_file_.keep_milestones(right_);
  noted_ = resumption.verified;
  resumption.discarded = new_file_.discarded();
  resumption.complete = true;
  return resumption;
}

void UploadDigest::distrust_from(std::uint64_t offset) {
  digest_.forget_from(offset);
  const auto noted = new_file_.milestones();
  const auto wrong = std::ranges::upper_bound(noted, offset, {}, &Milestone::end);
  new_file_.keep_milestones(static_cast<std::size_t>(wrong - noted.begin()));
  noted_ = end_of(new_file_.milestones());
}

// Digests the rest: bytes moved by the kernel are digested in larger parts. The number of slices is limited,
// because a loop may be waiting.
void UploadDigest::leave(std::uint64_t unchanging) {
  if (!has_journal_) return;
  for (int slice = 0; slice < kLastSlices && done() < unchanging; ++slice)
    if (!digest_.advance(file_, unchanging)) break;
  if (done() > noted_) new_file_.note({done(), digest_.value()});
}

namespace {

// The limit of separate ranges, for peers that send every second byte alone.
constexpr std::size_t kMostRanges = 4096;

}  // namespace

FileAnswer<void> ReceivedRanges::take(ByteRange range) {
  if (size_ == 0) return {};
  if (taken_.pieces() >= kMostRanges) return refused(FileError::busy, "too many loose ranges");
  if (!taken_.insert(range.offset, range.end()))
    return refused(FileError::overlap, "some of the range is there already, or it is empty");
  return {};
}

std::uint64_t ReceivedRanges::give_back(ByteRange range) {
  taken_.erase(range.offset, range.end());
  const std::uint64_t arrived = std::min(range.end(), stored_from(range.offset));
  stored_.erase(range.offset, arrived);
  return arrived;
}

void ReceivedRanges::begin_with(std::uint64_t bytes) {
  taken_.insert(0, bytes);
  stored_.insert(0, bytes);
  finished_.insert(0, bytes);
  there_ = bytes;
}

namespace {

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
  const bool resumable = rules.kept != nullptr && request.wishes && request.wishes->resumable;
  if (resumable)
    if (auto share = rules.kept->take(request.name)) return share;
  return QuotaShare::begin(*rules.quota, needed, resumable ? 2 : 1);
}

// The wanted way to fill the file, or the next best one.
FileAnswer<FileWrite> possible_method(int fd, std::uint64_t needed, std::uint64_t size, FileWrite wanted) {
  if (const Available room = available_space(fd, needed); needed > room.bytes)
    return refused(FileError::no_space, shortage(needed, room));
  if (wanted != FileWrite::mmap) return wanted;
  const auto mapped = may_be_mapped(fd, size);
  if (!mapped) return std::unexpected(mapped.error());
  return *mapped ? wanted : FileWrite::write;
}

}  // namespace

FileAnswer<std::shared_ptr<DiskUpload>> DiskUpload::begin(std::unique_ptr<NewFile> new_file,
                                                          std::unique_ptr<UploadSlot> slot,
                                                          const UploadRequest& request,
                                                          const UploadRules& rules) {
  const int fd = new_file->descriptor().get();
  // The bytes of an earlier attempt are on the disk already.
  const std::uint64_t needed = request.size - std::min(request.size, end_of(new_file->milestones()));
  auto share = share_of(request, needed, rules);
  if (!share) return std::unexpected(share.error());
  const auto method = possible_method(fd, needed, request.size, rules.write);
  if (!method) {
    if (rules.kept != nullptr && new_file->stays())
      rules.kept->keep(request.name, std::move(*share), end_of(new_file->milestones()), request.from.address);
    return std::unexpected(method.error());
  }
  UploadRules possible = rules;
  possible.write = *method;
  auto upload = std::make_shared<DiskUpload>(std::move(new_file), std::move(*share), request, possible);
  upload->slot_ = std::move(slot);
  return upload;
}

DiskUpload::Properties DiskUpload::properties_of(const UploadRequest& request) {
  return {.name = std::string(request.name),
          .size = request.size,
          .from = request.from.address,
          .dry_run = request.dry_run,
          .resumable = request.wishes && request.wishes->resumable,
          .synced = request.wishes && request.wishes->synced};
}

DiskUpload::DiskUpload(std::unique_ptr<NewFile> new_file, std::unique_ptr<QuotaShare> share,
                       const UploadRequest& request, const UploadRules& rules)
    : properties_(properties_of(request)),
      rules_(rules),
      new_file_(std::move(new_file)),
      file_(std::move(new_file_->descriptor()), request.size, rules.write, rules.plain),
      digest_(*new_file_, file_, request.size, properties_.resumable),
      expected_(request.digest),
      share_(std::move(share)),
      ranges_(request.size) {}

bool DiskUpload::same(const UploadRequest& request) const {
  if (request.begun) return request.size == properties_.size && properties_.resumable;
  if (properties_.resumable || (request.wishes && request.wishes->resumable)) return false;
  return request.size == properties_.size && request.digest == expected_ &&
         request.dry_run == properties_.dry_run;
}

void DiskUpload::joined_by(const Uploader& other) {
  const std::lock_guard lock(mutex_);
  if (slot_) slot_->join(other.connection);
}

// The first bytes that an earlier attempt left are taken and finished. The quota does not count the bytes
// beyond the last right milestone, so their disk space is freed. A mapped file keeps its size.
Upload::Resumption DiskUpload::resume() {
  const std::scoped_lock lock(digesting_, mutex_);
  const Resumption resumption = digest_.resume();
  if (!resumption.complete) return resumption;
  if (digest_.found_wrong()) file_.free_room(resumption.verified, properties_.size - resumption.verified);
  ranges_.begin_with(resumption.verified);
  share_->resume({0, resumption.verified});
  resumed_ = true;
  return resumption;
}

FileAnswer<void> DiskUpload::take(ByteRange range) {
  const std::lock_guard lock(mutex_);
  if (range.offset > properties_.size || range.size > properties_.size - range.offset)
    return refused(FileError::beyond_end, "the range is not in the file");
  if (over_) return refused(FileError::overlap, "the upload is complete");
  if (properties_.resumable && !resumed_)
    return refused(FileError::busy, "what is there is still being looked at");
  return ranges_.take(range);
}

bool DiskUpload::has(ByteRange range) {
  const std::lock_guard lock(mutex_);
  return properties_.resumable && !over_ && ranges_.are_finished(range);
}

// Ends the upload if the memory is missing to note that the range is free again: no connection could send the
// range then, and the client offers the upload again. Connections that end call this, and cannot fail.
void DiskUpload::give_back(ByteRange range) noexcept {
  const std::scoped_lock lock(digesting_, mutex_);
  try {
    free_room(ranges_.give_back(range), range.end());
    // The range may be stored again with other bytes than those digested.
    digest_.forget_from(range.offset);
  } catch (const std::bad_alloc&) {
    over_ = true;
  }
}

void DiskUpload::distrust(ByteRange range) {
  const std::scoped_lock lock(digesting_, mutex_);
  ranges_.distrust(range);
  digest_.distrust_from(range.offset);
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

// Digests data soon after it is stored, while it is in the processor's cache, so that the digest is complete
// soon after the last byte. Each part digests up to twice its size, to catch up with ranges that arrived out
// of order and with parts that arrived while another thread was digesting.
void DiskUpload::stored(ByteRange part, Bytes seen) {
  std::uint64_t behind = 0;  // bytes that could be digested
  {
    const std::lock_guard lock(mutex_);
    ranges_.stored(part);
    const std::uint64_t done = digest_.done();
    behind = ranges_.stored_from(done) - done;
  }
  stored_bytes_ += part.size;
  if (slot_) slot_->made_progress(Clock::now());
  const bool is_next = !seen.empty() && part.offset == digest_.done();
  if (!is_next && left_to_worker(behind)) return;
  const std::unique_lock digesting(digesting_, std::try_to_lock);
  if (!digesting) return;
  std::unique_lock lock(mutex_);
  const std::uint64_t unchanging = ranges_.unchanging();
  lock.unlock();
  if (is_next) digest_.mark_within(unchanging);
  digest_.seen(part.offset, seen);
  const std::uint64_t most = digest_.done() + 2 * part.size;
  lock.lock();
  const std::uint64_t end = std::min(most, ranges_.stored_from(digest_.done()));
  lock.unlock();
  digest_.advance_to(end, unchanging);
}

// True if the worker digests the stored bytes. A worker that is late is called all the same: it may only have
// begun again.
bool DiskUpload::left_to_worker(std::uint64_t behind) {
  if (rules_.worker == nullptr) return false;
  if (behind >= kWorkersPart && !called_.exchange(true)) {
    // Takes a reference for each slice: an upload whose connections have all ended is not kept.
    const bool taken = rules_.worker->take([upload = weak_from_this()] {
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
  std::unique_lock lock(mutex_);
  const std::uint64_t end = ranges_.stored_from(digest_.done()), unchanging = ranges_.unchanging();
  lock.unlock();
  return !over_ && digest_.advance_to(end, unchanging);
}

bool DiskUpload::finish(ByteRange range) {
  const std::lock_guard lock(mutex_);
  ranges_.finish(range);
  if (properties_.resumable || !ranges_.are_complete() || over_.exchange(true)) return false;
  if (!is_published_alone()) slot_.reset();
  return true;
}

bool DiskUpload::awaits_seal() const {
  const std::lock_guard lock(mutex_);
  return properties_.resumable && resumed_ && ranges_.are_complete() && !over_;
}

FileAnswer<void> DiskUpload::seal(const std::optional<Digest>& digest) {
  const std::lock_guard lock(mutex_);
  if (!properties_.resumable) return refused(FileError::malformed, "the upload was not offered");
  if (!resumed_ || !ranges_.are_complete())
    return refused(FileError::malformed, "not all of the file has come");
  if (over_.exchange(true)) return refused(FileError::malformed, "the upload is sealed already");
  if (!is_published_alone()) slot_.reset();
  expected_ = digest;
  return {};
}

FileAnswer<Upload::Check> DiskUpload::check() {
  const std::scoped_lock lock(digesting_, mutex_);
  const auto through = digest_.advance();
  if (!through) return refused(error_of(through.error() == 0 ? EIO : through.error()));
  if (!*through) return Check{digest_.done()};
  if (waits_for_disk()) return Check{.checked = properties_.size, .waits = true};
  return conclude();
}

// Lets a thread wait for the disk, which may take a minute for the bytes received. Otherwise all peers of the
// loop would wait.
bool DiskUpload::waits_for_disk() {
  if (sync_ == Sync::not_begun && properties_.synced && !properties_.dry_run && is_right()) {
    // If no thread takes the work, conclude() waits for the disk. The thread needs this lock before it can
    // report the end.
    sync_ = begin_sync() ? Sync::running : Sync::over;
  }
  return sync_ == Sync::running;
}

// True for a large synced file. Small files are published together with files that follow them, and a large
// one would delay those. A large file keeps its slot until it is published.
bool DiskUpload::is_published_alone() const {
  return rules_.commits != nullptr && properties_.synced && !properties_.dry_run &&
         properties_.size >= kPublishedAlone;
}

bool DiskUpload::begin_sync() {
  if (rules_.commits == nullptr) return false;
  if (!is_published_alone()) return rules_.commits->add(shared_from_this());
  return rules_.commits->add_alone([upload = shared_from_this()] { upload->publish_alone(); });
}

// The upload may have been released meanwhile.
void DiskUpload::committed(std::expected<ReplacedBytes, int> published) {
  bool is_released = false;
  {
    const std::lock_guard lock(mutex_);
    published_ = published;
    keep_share();
    slot_.reset();
    sync_ = Sync::over;
    is_released = released_;
  }
  if (is_released) release();
}

// Keeps the share also if the file has its name and the disk has refused the folder.
void DiskUpload::keep_share() {
  const ReplacedBytes* const replaced = *published_ ? &**published_ : new_file_->replaced();
  if (replaced != nullptr && !std::exchange(is_share_kept_, true)) share_->keep(*replaced);
}

FileAnswer<Upload::Check> DiskUpload::conclude() {
  const Digest digest = digest_.value();
  const bool right = is_right();
  if (right && !properties_.dry_run && !published_) {
    published_ = publish(*new_file_, file_.number(), properties_.synced);
    keep_share();
  }
  const bool has_name = published_ && *published_;
  // Removes an unpublished file, even if others still refer to this upload. Keeps a file that outlives an
  // interruption and has the right bytes: it may get its name at the next attempt.
  if (!right || has_name || !properties_.resumable) new_file_->abandon();
  if (!right) return refused(FileError::digest_differs, "what has come has the digest " + to_hex(digest));
  if (published_ && !*published_) return not_published(published_->error());
  return Check{properties_.size, digest};
}

// Reopens the upload after a shortage: the sender then seals it once more.
std::unexpected<FileRefusal> DiskUpload::not_published(int error) {
  if (properties_.resumable && error_of(error) == FileError::busy) {
    published_.reset();
    sync_ = Sync::not_begun;
    over_ = false;
  }
  return refused(error_of(error), error == kMountedOn ? "something is mounted on it" : "");
}

// No thread publishes the upload now, because such a thread would hold a reference.
DiskUpload::~DiskUpload() {
  sync_ = Sync::over;
  DiskUpload::release();
}

void DiskUpload::release() noexcept {
  const std::scoped_lock lock(digesting_, mutex_);
  released_ = true;
  if (sync_ == Sync::running) return;  // committed() continues when the file is published or has failed
  try {
    leave_for_the_next();
  } catch (const std::bad_alloc&) {
    // The file stays with fewer notes than bytes, and the quota gets its bytes back. The next attempt finds
    // the file.
  }
  new_file_->release();
}

// Leaves a file from the first MiB on, so that each connection makes progress on a link that fails often. The
// bytes of a file that stays count in the quota until its name is uploaded again.
void DiskUpload::leave_for_the_next() {
  digest_.leave(ranges_.unchanging());
  if (rules_.kept == nullptr || !new_file_->stays()) return;
  rules_.kept->keep(properties_.name, std::move(share_), end_of(new_file_->milestones()), properties_.from);
}

}  // namespace joust

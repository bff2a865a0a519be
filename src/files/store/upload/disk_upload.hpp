// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/shares.hpp"
#include "files/store/disk/disk_file.hpp"
#include "files/store/disk/file_tree.hpp"
#include "files/store/disk/group_commit.hpp"
#include "files/store/file_digest.hpp"
#include "files/store/quota.hpp"
#include "files/store/storage.hpp"
#include "joust/file.hpp"

namespace joust {

// The digest of an upload while it arrives, and the milestones that it notes in the journal of a file that
// outlives an interruption. One thread at a time, except done().
class UploadDigest {
 public:
  // `new_file` and `file` are borrowed.
  UploadDigest(NewFile& new_file, const File& file, std::uint64_t size, bool has_journal)
      : new_file_(new_file),
        file_(file),
        size_(size),
        has_journal_(has_journal),
        digest_(size),
        found_(new_file.milestones()) {}

  std::uint64_t done() const { return digest_.done(); }  // bytes
  Digest value() const { return digest_.value(); }

  // Marks the digest while it is within the first bytes, which never change. A range that is lost with its
  // connection is sent again, perhaps with other bytes; the digest then returns to the mark.
  void mark_within(std::uint64_t unchanging) {
    if (done() <= unchanging) digest_.mark();
  }
  void seen(std::uint64_t offset, Bytes bytes) { digest_.seen(offset, bytes); }
  // Digests a slice, or two around a mark, but not beyond `end`. Returns false if there was nothing to do. A
  // read error recurs in advance(), which reports it.
  bool advance_to(std::uint64_t end, std::uint64_t unchanging);
  // Digests a slice. Returns true at the end of the file; fails as FileDigest::advance() does.
  std::expected<bool, int> advance() { return digest_.advance(file_); }
  void forget_from(std::uint64_t offset) { digest_.forget_from(offset); }

  // Verifies what an earlier attempt has left, from milestone to milestone.
  Upload::Resumption resume();
  bool found_wrong() const { return right_ < found_.size(); }  // after resume(): some of it was wrong
  // Drops the milestones that end beyond this offset: a milestone covers all bytes up to its end.
  void distrust_from(std::uint64_t offset);
  // Notes a last milestone at the end of the bytes that never change, for the next attempt.
  void leave(std::uint64_t unchanging);

 private:
  void note_milestone();

  NewFile& new_file_;
  const File& file_;
  const std::uint64_t size_;  // bytes
  const bool has_journal_;
  FileDigest digest_;
  const std::vector<Milestone> found_;  // of the earlier attempt
  std::size_t right_ = 0;               // of found_, those that are right
  std::uint64_t noted_ = 0;             // the end of the last noted milestone
};

// The ranges of an upload: those that connections have taken, the parts of them that are stored, and those
// that are complete. One thread at a time.
class ReceivedRanges {
 public:
  explicit ReceivedRanges(std::uint64_t size) : size_(size) {}

  // Refuses a range of the file that is taken already. A file of no bytes has no ranges to take.
  FileAnswer<void> take(ByteRange range);
  // Frees a taken range. Returns the end of its stored part. Throws std::bad_alloc.
  std::uint64_t give_back(ByteRange range);
  void stored(ByteRange part) { stored_.insert(part.offset, part.end()); }  // parts of a range: in order
  void distrust(ByteRange range) {  // its stored part is to be stored again
    stored_.erase(range.offset, std::min(range.end(), stored_from(range.offset)));
  }
  void finish(ByteRange range) {  // it is complete
    finished_.insert(range.offset, range.end());
    there_ += range.size;
  }
  void begin_with(std::uint64_t bytes);  // the first bytes are complete from the start

  bool are_finished(ByteRange range) const {
    return range.size > 0 && finished_.end_of(range.offset) >= range.end();
  }
  bool are_complete() const { return there_ == size_; }  // all ranges are finished
  std::uint64_t stored_from(std::uint64_t offset) const { return stored_.end_of(offset); }
  // The end of the first bytes that never change: all their ranges are complete.
  std::uint64_t unchanging() const { return finished_.end_of(0); }

 private:
  const std::uint64_t size_;
  RangeSet taken_;
  RangeSet stored_;          // the part of taken_ that is stored
  RangeSet finished_;        // the ranges of stored_ that are complete
  std::uint64_t there_ = 0;  // bytes in finished_
};

// The slot of one open upload. When it has to give way, it ends the connection that began the upload: the
// sender resumes the upload over another connection.
using UploadSlot = ConnectionShare;

// The set-up of a directory's uploads.
struct UploadRules {
  FileWrite write = FileWrite::write;
  Quota* quota = nullptr;  // borrowed, like all that follow
  PlainBytes* plain = nullptr;
  BackgroundThread* worker = nullptr;  // digests spliced data; if null, the storing thread does
  KeptShares* kept = nullptr;          // shares of uploads that stay when they are interrupted
  GroupCommit* commits = nullptr;      // publishes synced files; if null, the caller of check() waits
};

// An upload into a new file.
class DiskUpload : public Upload,
                   public GroupCommit::Member,
                   public std::enable_shared_from_this<DiskUpload> {
 public:
  // `slot` may be null.
  static FileAnswer<std::shared_ptr<DiskUpload>> begin(std::unique_ptr<NewFile> new_file,
                                                       std::unique_ptr<UploadSlot> slot,
                                                       const UploadRequest& request,
                                                       const UploadRules& rules);
  DiskUpload(std::unique_ptr<NewFile> new_file, std::unique_ptr<QuotaShare> share,
             const UploadRequest& request, const UploadRules& rules);

  FileAnswer<void> take(ByteRange range) override;
  bool has(ByteRange range) override;
  void give_back(ByteRange range) noexcept override;
  void distrust(ByteRange range) override;
  FileAnswer<void> make_room(ByteRange part) override;
  void stored(ByteRange part, Bytes seen) override;
  bool finish(ByteRange range) override;
  Resumption resume() override;
  FileAnswer<void> seal(const std::optional<Digest>& digest) override;
  FileAnswer<Check> check() override;
  bool awaits_seal() const override;
  void release() noexcept override;
  std::uint64_t left_to_check() const override { return properties_.size - digest_.done(); }
  bool over() const override { return over_; }
  std::uint64_t received() const override { return stored_bytes_; }
  File& file() override { return file_; }

  NewFile& new_file() override { return *new_file_; }
  int number() const override { return file_.number(); }
  void committed(std::expected<ReplacedBytes, int> published) override;

  ~DiskUpload() override;
  DiskUpload(const DiskUpload&) = delete;
  DiskUpload& operator=(const DiskUpload&) = delete;

  // True if the request may concern a range of this upload.
  bool same(const UploadRequest& request) const;
  // Adds a connection that sends ranges of this upload too.
  void joined_by(const Uploader& other);

 private:
  // The properties of the request, which never change.
  struct Properties {
    std::string name;
    std::uint64_t size = 0;  // bytes
    PeerAddress from = PeerAddress::unknown;
    bool dry_run = false, resumable = false, synced = false;
  };
  static Properties properties_of(const UploadRequest& request);

  void free_room(std::uint64_t begin, std::uint64_t end);
  bool left_to_worker(std::uint64_t behind);
  bool catch_up();
  FileAnswer<Check> conclude();
  void keep_share();
  bool is_published_alone() const;
  std::unexpected<FileRefusal> not_published(int error);
  bool is_right() const { return !expected_ || *expected_ == digest_.value(); }
  bool waits_for_disk();
  bool begin_sync();
  void leave_for_the_next();

  const Properties properties_;
  const UploadRules rules_;
  const std::unique_ptr<NewFile> new_file_;
  TargetFile file_;
  std::mutex digesting_;                        // locked before mutex_, if both are needed
  UploadDigest digest_;                         // protected by digesting_, except done()
  std::atomic<std::uint64_t> stored_bytes_{0};  // bytes stored again are counted again
  std::atomic<bool> over_{false};               // complete: being checked, published or refused
  std::atomic<bool> called_{false};             // the worker has been called, and has not begun yet

  mutable std::mutex mutex_;  // protects the following
  std::optional<Digest> expected_;
  std::unique_ptr<UploadSlot> slot_;  // held until the upload is over; may be null
  std::unique_ptr<QuotaShare> share_;
  ReceivedRanges ranges_;
  bool resumed_ = false;  // resume() is complete
  bool released_ = false;
  enum class Sync : std::uint8_t { not_begun, running, over } sync_ = Sync::not_begun;
  std::optional<std::expected<ReplacedBytes, int>> published_;
  bool is_share_kept_ = false;
};

}  // namespace joust

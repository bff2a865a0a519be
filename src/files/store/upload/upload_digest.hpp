// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <vector>

#include "files/store/disk/file_tree.hpp"
#include "files/store/file_digest.hpp"
#include "files/store/storage.hpp"
#include "joust/file.hpp"

namespace joust {

// The digest of an upload while it arrives, and the milestones that it notes in the journal of a file that
// outlives an interruption. One thread at a time, except done().
class UploadDigest {
 public:
  // `place` and `file` are borrowed.
  UploadDigest(NewFile& place, const File& file, std::uint64_t size, bool has_journal)
      : place_(place),
        file_(file),
        size_(size),
        has_journal_(has_journal),
        digest_(size),
        found_(place.milestones()) {}

  std::uint64_t done() const { return digest_.done(); }  // bytes
  Digest value() const { return digest_.value(); }

  // Marks the digest while it is within the first bytes, which never change. A range that is lost with its
  // connection is sent again, perhaps with other bytes; the digest then returns to the mark.
  void mark_within(std::uint64_t unchanging);
  void seen(std::uint64_t offset, Bytes bytes) { digest_.seen(offset, bytes); }
  // Digests a slice, or two around a mark, but not beyond `end`. Returns false if there was nothing to do. A
  // read error recurs in advance(), which reports it.
  bool advance_to(std::uint64_t end, std::uint64_t unchanging);
  // Digests a slice. Returns true at the end of the file; fails as FileDigest::advance() does.
  std::expected<bool, int> advance() { return digest_.advance(file_); }
  void forget_from(std::uint64_t offset) { digest_.forget_from(offset); }

  // Verifies what an earlier attempt has left, from milestone to milestone.
  Upload::Recall recall();
  bool found_wrong() const { return right_ < found_.size(); }  // after the recall: some of it was wrong
  // Drops the milestones that end beyond this place: a milestone covers all bytes up to its end.
  void distrust_from(std::uint64_t offset);
  // Notes a last milestone at the end of the bytes that never change, for the next attempt.
  void leave(std::uint64_t unchanging);

 private:
  void note_milestone();

  NewFile& place_;
  const File& file_;
  const std::uint64_t size_;  // bytes
  const bool has_journal_;
  FileDigest digest_;
  const std::vector<Milestone> found_;  // of the earlier attempt
  std::size_t right_ = 0;               // of found_, those that are right
  std::uint64_t noted_ = 0;             // the end of the last noted milestone
};

}  // namespace joust

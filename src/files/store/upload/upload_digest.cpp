// SPDX-License-Identifier: MIT
#include "files/store/upload/upload_digest.hpp"

#include <algorithm>

namespace joust {
namespace {

constexpr int kLastSlices = 4;  // digested at an interruption

}  // namespace

void UploadDigest::mark_within(std::uint64_t unchanging) {
  if (done() <= unchanging) digest_.mark();
}

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
  place_.note({noted_, digest_.value()});
}

// At the first wrong milestone the digest returns to the one before.
Upload::Recall UploadDigest::recall() {
  Upload::Recall recall{.verified = right_ == 0 ? 0 : found_[right_ - 1].end};
  bool wrong = false;
  if (right_ < found_.size()) {
    const Milestone& next = found_[right_];
    wrong = !digest_.advance(file_, next.end);
    if (!wrong && done() < next.end) return recall;
    wrong = wrong || digest_.value() != next.digest;
    if (!wrong) recall.verified = found_[right_++].end;
    if (!wrong) digest_.mark();
  }
  if (!wrong && right_ < found_.size()) return recall;
  digest_.forget_from(recall.verified);
  place_.keep_milestones(right_);
  noted_ = recall.verified;
  recall.discarded = place_.discarded();
  recall.complete = true;
  return recall;
}

void UploadDigest::distrust_from(std::uint64_t offset) {
  digest_.forget_from(offset);
  const auto noted = place_.milestones();
  const auto wrong = std::ranges::upper_bound(noted, offset, {}, &Milestone::end);
  place_.keep_milestones(static_cast<std::size_t>(wrong - noted.begin()));
  noted_ = end_of(place_.milestones());
}

// Digests the rest: bytes moved by the kernel are digested in larger parts. The number of slices is limited,
// because a loop may be waiting.
void UploadDigest::leave(std::uint64_t unchanging) {
  if (!has_journal_) return;
  for (int slice = 0; slice < kLastSlices && done() < unchanging; ++slice)
    if (!digest_.advance(file_, unchanging)) break;
  if (done() > noted_) place_.note({done(), digest_.value()});
}

}  // namespace joust

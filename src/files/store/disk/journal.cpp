// SPDX-License-Identifier: MIT
//
//     head        "joust journal 1\n", size 8, modification time 8, id 8, checksum 8
//     milestone   end 8, digest 16, checksum 8
//
// Numbers are big endian. Each record has a checksum of its own, so that a torn or damaged record is detected
// and the records before it stay valid.
#include "files/store/disk/journal.hpp"

#include <algorithm>
#include <string_view>

#include "base/bytes.hpp"

namespace joust {
namespace {

constexpr std::string_view kJournalMagic = "joust journal 1\n";
constexpr std::size_t kChecksumBytes = 8;
constexpr std::uint64_t kLeastDistance = 1 << 20;  // bytes

class Record {
 public:
  Record& number(std::uint64_t value) {
    bytes_.resize(bytes_.size() + sizeof value);
    write_big_endian(value, &bytes_[bytes_.size() - sizeof value]);
    return *this;
  }
  Record& bytes(Bytes bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  std::vector<std::byte> with_checksum() {
    number(checksum(bytes_));
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

bool is_whole(Bytes record) {
  const Bytes content = record.first(record.size() - kChecksumBytes);
  return read_big_endian<std::uint64_t>(record.data() + content.size()) == checksum(content);
}

}  // namespace

std::uint64_t end_of(const std::vector<Milestone>& milestones) {
  return milestones.empty() ? 0 : milestones.back().end;
}

std::vector<std::byte> encode(const SourceIdentity& source) {
  return Record()
      .bytes(as_bytes(kJournalMagic))
      .number(source.size)
      .number(static_cast<std::uint64_t>(source.modified_ns))
      .number(source.id)
      .with_checksum();
}

std::vector<std::byte> encode(const Milestone& milestone) {
  return Record().number(milestone.end).bytes(milestone.digest).with_checksum();
}

std::optional<Journal> parse_journal(Bytes bytes) {
  if (bytes.size() < kJournalHeadBytes) return std::nullopt;
  const Bytes head = bytes.first(kJournalHeadBytes);
  if (as_text(head.first(kJournalMagic.size())) != kJournalMagic || !is_whole(head)) return std::nullopt;
  const std::byte* const fields = head.data() + kJournalMagic.size();
  Journal journal{
      .source = {.size = read_big_endian<std::uint64_t>(fields),
                 .modified_ns = static_cast<std::int64_t>(read_big_endian<std::uint64_t>(fields + 8)),
                 .id = read_big_endian<std::uint64_t>(fields + 16)}};
  for (bytes = bytes.subspan(kJournalHeadBytes); bytes.size() >= kMilestoneBytes;
       bytes = bytes.subspan(kMilestoneBytes)) {
    const Bytes record = bytes.first(kMilestoneBytes);
    if (!is_whole(record)) break;
    Milestone milestone{.end = read_big_endian<std::uint64_t>(record.data())};
    std::ranges::copy(record.subspan(8, milestone.digest.size()), milestone.digest.begin());
    const std::uint64_t before = journal.milestones.empty() ? 0 : journal.milestones.back().end;
    if (milestone.end <= before || milestone.end > journal.source.size) break;
    journal.milestones.push_back(milestone);
  }
  return journal;
}

std::uint64_t milestone_distance(std::uint64_t size) {
  return std::max(kLeastDistance, size / (kMostMilestones - 1));
}

}  // namespace joust

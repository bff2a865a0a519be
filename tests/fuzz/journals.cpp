// SPDX-License-Identifier: MIT
//
// Journals of partial files, as a disk may give them back.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "files/store/disk/journal.hpp"
#include "fuzz/corpus.hpp"
#include "fuzz/entries.hpp"

namespace joust::fuzz {
namespace {

std::string as_string(const std::vector<std::byte>& bytes) {
  return std::string(as_text(bytes));
}

// Or hardly a damaged record would get behind its checksum.
void put_right(std::span<std::byte> record) {
  const Bytes content = record.first(record.size() - 8);
  write_big_endian(checksum(content), record.data() + content.size());
}

void put_all_right(std::vector<std::byte>& journal) {
  if (journal.size() < kJournalHeadBytes) return;
  std::span<std::byte> rest(journal);
  put_right(rest.first(kJournalHeadBytes));
  for (rest = rest.subspan(kJournalHeadBytes); rest.size() >= kMilestoneBytes;
       rest = rest.subspan(kMilestoneBytes))
    put_right(rest.first(kMilestoneBytes));
}

std::string fault_of(const Journal& journal, Bytes read) {
  std::vector<std::byte> again = encode(journal.source);
  std::uint64_t before = 0;
  for (const Milestone& milestone : journal.milestones) {
    if (milestone.end <= before || milestone.end > journal.source.size)
      return fmt::format("a milestone at {} after one at {}, of {} bytes", milestone.end, before,
                         journal.source.size);
    before = milestone.end;
    const std::vector<std::byte> record = encode(milestone);
    again.insert(again.end(), record.begin(), record.end());
  }
  const bool same = again.size() <= read.size() && std::ranges::equal(again, read.first(again.size()));
  return same ? "" : "what was read is not what is written for it";
}

}  // namespace

std::vector<std::string> journal_corpus() {
  const std::string head = as_string(encode(SourceIdentity{1'000'000, 1'700'000'000'000'000'000, 7}));
  const auto at = [](std::uint64_t end) { return as_string(encode(Milestone{end, Digest{}})); };
  return {
      "a" + head,
      "b" + head + at(1) + at(500'000) + at(1'000'000),
      "c" + head + at(500'000) + at(500'000),
      "d" + head + at(1'000'001),
      "e" + head + at(10) + at(20).substr(0, 31),
      "f" + head.substr(0, 47),
  };
}

// The first byte, if it is odd, says that all checksums are to be right.
std::string journals(Bytes input) {
  if (input.empty()) return {};
  std::vector<std::byte> bytes(input.begin() + 1, input.end());
  if (std::to_integer<unsigned>(input[0]) % 2 == 1) put_all_right(bytes);
  const auto journal = parse_journal(bytes);
  return journal ? fault_of(*journal, bytes) : std::string();
}

}  // namespace joust::fuzz

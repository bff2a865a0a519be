// SPDX-License-Identifier: MIT
#include "files/store/disk/journal.hpp"

#include <gtest/gtest.h>

#include "files/store/storage_fixture.hpp"

namespace joust {
namespace {

constexpr SourceIdentity kSource{.size = 1000, .modified_ns = -7, .id = 0x0123456789abcdef};

const std::vector<Milestone>& some_milestones() {
  static const std::vector<Milestone> all{
      {10, test::digest_of("a")}, {500, test::digest_of("b")}, {1000, test::digest_of("c")}};
  return all;
}

std::vector<std::byte> joined(std::vector<std::byte> head, const std::vector<Milestone>& milestones) {
  for (const Milestone& milestone : milestones) {
    const auto record = encode(milestone);
    head.insert(head.end(), record.begin(), record.end());
  }
  return head;
}

std::vector<std::byte> whole_journal() {
  return joined(encode(kSource), some_milestones());
}

// The milestones of the source that are left; nothing where there is no journal of it.
std::optional<std::size_t> left_of(Bytes bytes) {
  const auto journal = parse_journal(bytes);
  if (!journal || journal->source != kSource) return std::nullopt;
  for (std::size_t i = 0; i < journal->milestones.size(); ++i)
    EXPECT_EQ(journal->milestones[i], some_milestones()[i]);
  return journal->milestones.size();
}

TEST(Journal, ReadsWhatItWrites) {
  EXPECT_EQ(encode(kSource).size(), kJournalHeadBytes);
  EXPECT_EQ(encode(some_milestones()[0]).size(), kMilestoneBytes);
  EXPECT_EQ(left_of(whole_journal()), 3U);
}

TEST(Journal, CountsWhatIsBeforeATornTail) {
  const auto all = whole_journal();
  for (std::size_t size = 0; size < all.size(); ++size) {
    const auto left = left_of(Bytes(all).first(size));
    if (size < kJournalHeadBytes)
      EXPECT_EQ(left, std::nullopt) << size;
    else
      EXPECT_EQ(left, (size - kJournalHeadBytes) / kMilestoneBytes) << size;
  }
}

TEST(Journal, CountsWhatIsBeforeAnyDamage) {
  const auto all = whole_journal();
  for (std::size_t place = 0; place < all.size(); ++place)
    for (const int bit : {0, 7}) {
      auto damaged = all;
      damaged[place] ^= static_cast<std::byte>(1 << bit);
      const auto left = left_of(damaged);
      if (place < kJournalHeadBytes)
        EXPECT_EQ(left, std::nullopt) << place;
      else
        EXPECT_EQ(left, (place - kJournalHeadBytes) / kMilestoneBytes) << place;
    }
}

TEST(Journal, EndsBeforeAMilestoneThatCannotBe) {
  const std::vector<Milestone>& good = some_milestones();
  const Milestone beyond{1001, {}}, same = good[0], nothing{};
  EXPECT_EQ(left_of(joined(encode(kSource), {good[0], beyond, good[1]})), 1U);
  EXPECT_EQ(left_of(joined(encode(kSource), {good[0], same, good[1]})), 1U);
  EXPECT_EQ(left_of(joined(encode(kSource), {nothing})), 0U);
}

TEST(Journal, StaysSmallForTheLargestFile) {
  for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{64} << 30, UINT64_MAX})
    EXPECT_LE(size / milestone_distance(size), kMostMilestones) << size;
}

}  // namespace
}  // namespace joust

// SPDX-License-Identifier: MIT
#include "files/store/quota.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace joust {
namespace {

TEST(RangeSet, RefusesWhatOverlapsAndWhatIsEmpty) {
  RangeSet set;
  EXPECT_TRUE(set.insert(10, 20));
  EXPECT_FALSE(set.insert(19, 25));
  EXPECT_FALSE(set.insert(5, 11));
  EXPECT_FALSE(set.insert(12, 13));
  EXPECT_FALSE(set.insert(0, 100));
  EXPECT_FALSE(set.insert(30, 30));
  EXPECT_TRUE(set.insert(20, 25));
  EXPECT_TRUE(set.insert(5, 10));
  EXPECT_EQ(set.pieces(), 1U);
}

TEST(RangeSet, GivesBackAPartOfWhatHasGrownTogether) {
  RangeSet set;
  EXPECT_TRUE(set.insert(0, 10));
  EXPECT_TRUE(set.insert(10, 20));
  EXPECT_TRUE(set.insert(20, 30));
  set.erase(10, 20);
  EXPECT_EQ(set.pieces(), 2U);
  EXPECT_FALSE(set.insert(9, 12));
  EXPECT_TRUE(set.insert(10, 20));
  EXPECT_EQ(set.pieces(), 1U);
}

TEST(RangeSet, KnowsWhereAStretchEnds) {
  RangeSet set;
  EXPECT_EQ(set.end_of(5), 5U);
  EXPECT_TRUE(set.insert(10, 20));
  EXPECT_TRUE(set.insert(20, 25));
  EXPECT_EQ(set.end_of(5), 5U);
  EXPECT_EQ(set.end_of(10), 25U);
  EXPECT_EQ(set.end_of(24), 25U);
  EXPECT_EQ(set.end_of(25), 25U);
  EXPECT_EQ(set.end_of(30), 30U);
}

TEST(RangeSet, HoldsToTheLastNumber) {
  RangeSet set;
  EXPECT_TRUE(set.insert(UINT64_MAX - 1, UINT64_MAX));
  EXPECT_FALSE(set.insert(0, UINT64_MAX));
  EXPECT_TRUE(set.insert(0, UINT64_MAX - 1));
}

// Against a plain array of taken places.
TEST(RangeSet, KnowsWhatATableKnows) {
  std::minstd_rand random(1);
  std::vector<std::pair<unsigned, unsigned>> held;
  std::vector<bool> table(64);
  RangeSet set;
  for (int i = 0; i < 20'000; ++i) {
    if (!held.empty() && random() % 2 == 0) {
      const std::size_t which = random() % held.size();
      set.erase(held[which].first, held[which].second);
      std::fill(table.begin() + held[which].first, table.begin() + held[which].second, false);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const auto begin = static_cast<unsigned>(random() % 60);
    const auto end = begin + 1 + static_cast<unsigned>(random() % 4);
    const bool is_free = std::find(table.begin() + begin, table.begin() + end, true) == table.begin() + end;
    ASSERT_EQ(set.insert(begin, end), is_free);
    if (!is_free) continue;
    std::fill(table.begin() + begin, table.begin() + end, true);
    held.emplace_back(begin, end);
  }
}

// Stretches that overlap, against a plain array.
TEST(RangeSet, CoversWhatOverlaps) {
  std::minstd_rand random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<bool> table(64);
    RangeSet set;
    for (int i = 0; i < 20; ++i) {
      const auto begin = static_cast<unsigned>(random() % 64);
      const auto end = begin + static_cast<unsigned>(random() % std::min(8U, 65 - begin));
      const auto there = std::count(table.begin() + begin, table.begin() + end, true);
      ASSERT_EQ(set.covered(begin, end), static_cast<std::uint64_t>(there));
      set.cover(begin, end);
      std::fill(table.begin() + begin, table.begin() + end, true);
      std::size_t pieces = table[0];
      for (std::size_t at = 1; at < table.size(); ++at) pieces += table[at] && !table[at - 1];
      ASSERT_EQ(set.pieces(), pieces);
    }
  }
}

}  // namespace
}  // namespace joust

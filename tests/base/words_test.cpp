// SPDX-License-Identifier: MIT
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace joust {
namespace {

TEST(Join, PutsSeparatorsBetweenWords) {
  EXPECT_EQ(join({}), "");
  EXPECT_EQ(join(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(join(std::vector<std::string>{"a", "", "c"}), "a, , c");
  EXPECT_EQ(join(std::vector<std::string>{"a", "b"}, " and "), "a and b");
}

TEST(Counted, HasThePluralOfItsNoun) {
  EXPECT_EQ(counted(1, "file"), "1 file");
  EXPECT_EQ(counted(0, "file"), "0 files");
  EXPECT_EQ(counted(1, "retry"), "1 retry");
  EXPECT_EQ(counted(2, "empty directory"), "2 empty directories");
}

}  // namespace
}  // namespace joust

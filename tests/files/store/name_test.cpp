// SPDX-License-Identifier: MIT
#include "files/store/name.hpp"

#include <gtest/gtest.h>

#include <string>

#include "files/store/hostile_names.hpp"

namespace joust {
namespace {

TEST(Name, RefusesEveryHostileOne) {
  for (const std::string& name : test::hostile_names())
    EXPECT_NE(objection_to(name), "") << testing::PrintToString(name);
}

TEST(Name, TakesOrdinaryOnes) {
  for (const std::string& name :
       {std::string("a"), std::string("a/b.txt"), std::string("..."), std::string("a..b"),
        std::string(".hidden"), std::string("grüße/日本語/😀"), std::string("a b"), std::string("trailing."),
        std::string(255, 'x'), std::string("\xc2\xa0")})
    EXPECT_EQ(objection_to(name), "") << name;
}

TEST(Name, HasBoundsOnItsLength) {
  EXPECT_NE(objection_to(std::string(256, 'x')), "");
  std::string longest;
  while (longest.size() + 64 <= kLongestName) longest += std::string(63, 'x') + "/";
  longest.back() = 'x';
  EXPECT_EQ(longest.size(), kLongestName);
  EXPECT_EQ(objection_to(longest), "");
  EXPECT_NE(objection_to(longest + "x"), "");
}

TEST(Name, IsCutIntoComponents) {
  EXPECT_EQ(components("a/b/c"), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_EQ(components("a//"), (std::vector<std::string_view>{"a", "", ""}));
}

}  // namespace
}  // namespace joust

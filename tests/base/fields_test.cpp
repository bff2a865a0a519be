// SPDX-License-Identifier: MIT
#include "base/fields.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace joust {
namespace {

enum class Colour { red, green, default_ };
struct Plain {
  int first = 1;
  std::string case_ = "two";
  std::optional<double> third{};
  Colour colour = Colour::green;
  std::vector<std::string> last{};
};
struct Single {
  const char* word = nullptr;
};

TEST(Fields, HaveTheNamesOfTheSource) {
  EXPECT_EQ(std::vector(kFieldNames<Plain>.begin(), kFieldNames<Plain>.end()),
            (std::vector<std::string_view>{"first", "case", "third", "colour", "last"}));
  EXPECT_EQ(kFieldNames<Single>.front(), "word");
}

TEST(Fields, AreSeenInTheirOrderAndCanBeChanged) {
  Plain plain;
  std::string names;
  each_field(plain, [&](std::string_view name, auto& member) {
    names += name;
    names += ' ';
    member = {};
  });
  EXPECT_EQ(names, "first case third colour last ");
  EXPECT_EQ(plain.first, 0);
  EXPECT_EQ(plain.case_, "");
  EXPECT_TRUE(plain.last.empty());
  const Plain constant;
  std::size_t seen = 0;
  each_field(constant, [&](std::string_view, const auto&) { ++seen; });
  EXPECT_EQ(seen, 5);
}

TEST(Fields, OfTwoStructsAreSeenTogether) {
  Plain plain;
  Plain other;
  other.first = 3;
  std::size_t seen = 0;
  each_field_of(plain, other, [&](std::string_view, auto& member, const auto& same) {
    member = same;
    ++seen;
  });
  EXPECT_EQ(plain.first, 3);
  EXPECT_EQ(seen, 5);
}

TEST(Words, AreThoseOfTheSource) {
  EXPECT_EQ(kWordsOf<Colour>.size(), 3);
  EXPECT_EQ(word_of(Colour::red), "red");
  EXPECT_EQ(word_of(Colour::default_), "default");
  EXPECT_EQ(value_of_word<Colour>("green"), Colour::green);
  EXPECT_EQ(value_of_word<Colour>("Green"), std::nullopt);
  EXPECT_EQ(value_of_word<Colour>(""), std::nullopt);
}

}  // namespace
}  // namespace joust

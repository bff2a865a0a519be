// SPDX-License-Identifier: MIT
#include "base/text.hpp"

#include <gtest/gtest.h>

namespace joust {
namespace {

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("a\x1b[2J\nb\x7f"), "a\\x1b[2J\\x0ab\\x7f");
  EXPECT_EQ(printable("a\nb\x1b", "\n"), "a\nb\\x1b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m \xc2\xa0 \xc3\xa9"),
            "\\xc2\\x9b31m \xc2\xa0 \xc3\xa9")
      << "C1 only";
  EXPECT_TRUE(has_control("\xc2\x9b"));
  EXPECT_FALSE(has_control("caf\xc3\xa9"));
}

TEST(Printable, TellsAllTextsApart) {
  EXPECT_EQ(printable("\xff\xfe caf\xc3"), "\\xff\\xfe caf\\xc3") << "no UTF-8";
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "turns the direction";
  EXPECT_EQ(printable("\\xff"), "\\\\xff");
  EXPECT_EQ(printable(printable("\xff"), "\\"), "\\xff") << "escaped already";
}

}  // namespace
}  // namespace joust

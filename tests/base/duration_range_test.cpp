// SPDX-License-Identifier: MIT
#include "base/units.hpp"

#include <gtest/gtest.h>

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(DurationRange, IsReadAndWritten) {
  EXPECT_EQ(parse_duration_range("50ms..1s"), (DurationRange{milliseconds(50), seconds(1)}));
  EXPECT_EQ(parse_duration_range("2s"), (DurationRange{seconds(2), seconds(2)}));
  EXPECT_EQ(parse_duration_range("2s..2s"), (DurationRange{seconds(2), seconds(2)}));
  for (const char* text : {"50ms..1s", "1500us..1500us", "1ns..3600s"})
    EXPECT_EQ(range_word(*parse_duration_range(text)), text);
}

TEST(DurationRange, IsRefusedInWords) {
  EXPECT_EQ(parse_duration_range("1s..50ms").error(),
            "1s..50ms: the second time is the longer one (50ms..1s)");
  for (const char* text : {"", "..", "1s..", "..1s", "1s...2s", "1s..2s..3s", "5", "1s..x"})
    EXPECT_FALSE(parse_duration_range(text).has_value()) << text;
}

}  // namespace
}  // namespace joust

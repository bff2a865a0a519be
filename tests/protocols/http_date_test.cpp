// SPDX-License-Identifier: MIT
#include "protocols/http/date.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace joust::http {
namespace {

constexpr std::int64_t kExample = 784'111'777;  // that of RFC 9110
constexpr std::int64_t kYear2026 = 1'792'745'617;

TEST(HttpDate, IsShortForPeople) {
  EXPECT_EQ(short_date_text(1'792'745'617), "2026-10-23 08:53");
  EXPECT_EQ(short_date_text(0), "1970-01-01 00:00");
  EXPECT_EQ(short_date_text(-1), "1970-01-01 00:00");
}

TEST(HttpDate, HasThreeFormats) {
  EXPECT_EQ(date_text(kExample), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT", kYear2026), kExample);
  EXPECT_EQ(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", kYear2026), kExample);
  EXPECT_EQ(parse_date("Sun Nov  6 08:49:37 1994", kYear2026), kExample);
  EXPECT_EQ(parse_date("Wed Nov 16 08:49:37 1994", kYear2026), kExample + 10 * 86'400);
}

TEST(HttpDate, OfTwoDigitsIsInThisHalfOfTheCentury) {
  const auto year_of = [](const std::string& year) {
    const auto seconds = parse_date("Friday, 01-Jan-" + year + " 00:00:00 GMT", kYear2026);
    return seconds ? date_text(*seconds).substr(12, 4) : "none";
  };
  EXPECT_EQ(year_of("26"), "2026");
  EXPECT_EQ(year_of("76"), "2076");
  EXPECT_EQ(year_of("77"), "1977");
  EXPECT_EQ(year_of("99"), "1999");
}

TEST(HttpDate, IsNothingElse) {
  for (const char* text :
       {"", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1993 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Abc 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
        "784111777"})
    EXPECT_FALSE(parse_date(text, kYear2026)) << text;
}

TEST(HttpDate, HasAFirstAndALastDay) {
  EXPECT_EQ(date_text(-5), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(date_text(std::int64_t{1} << 50), "Fri, 31 Dec 9999 23:59:59 GMT");
}

RC_GTEST_PROP(HttpDate, IsReadAsItIsWritten, ()) {
  const auto seconds = *rc::gen::inRange<std::int64_t>(0, 253'402'300'800);
  RC_ASSERT(date_text(seconds).size() == kDateSize);
  RC_ASSERT(parse_date(date_text(seconds), kYear2026) == seconds);
}

}  // namespace
}  // namespace joust::http

// SPDX-License-Identifier: MIT
#include "base/units.hpp"

#include <gtest/gtest.h>

#include <string>

namespace joust {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(ParseCount, TakesSiMultiples) {
  EXPECT_EQ(parse_count("0"), 0U);
  EXPECT_EQ(parse_count("300"), 300U);
  EXPECT_EQ(parse_count("10k"), 10'000U);
  EXPECT_EQ(parse_count("1.5M"), 1'500'000U);
  EXPECT_EQ(parse_count("2G"), 2'000'000'000U);
}

TEST(ParseCount, TakesWholeThingsOnly) {
  EXPECT_EQ(parse_count("1.5k"), 1500U);
  EXPECT_EQ(parse_count("4.35k"), 4350U) << "though 4.35 * 1000 is a little less";
  for (const std::string_view bad : {"1.5", "0.5", "1.0005k", "2.9999999"}) {
    const auto parsed = parse_count(bad);
    ASSERT_FALSE(parsed.has_value()) << bad;
    EXPECT_NE(parsed.error().find("whole number"), std::string::npos) << parsed.error();
  }
  EXPECT_FALSE(parse_bytes("1.5").has_value());
}

TEST(ParseRate, TakesFractions) {
  EXPECT_EQ(parse_rate("5k"), 5000.0);
  EXPECT_EQ(parse_rate("0.5"), 0.5);
  EXPECT_EQ(parse_rate("1.5M"), 1.5e6);
  for (const std::string_view bad : {"0", "-1", "5q", "", "inf"}) EXPECT_FALSE(parse_rate(bad)) << bad;
}

TEST(FormatRate, IsExactWithThousandsApart) {
  EXPECT_EQ(format_rate(5000), "5,000");
  EXPECT_EQ(format_rate(0.5), "0.5");
  EXPECT_EQ(format_rate(1234.5), "1234.5");
}

TEST(Grouped, ThousandsStandApart) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(268435456), "268,435,456");
}

TEST(ParseBytes, TellsThousandsFromBinary) {
  EXPECT_EQ(parse_bytes("64"), 64U);
  EXPECT_EQ(parse_bytes("64B"), 64U);
  EXPECT_EQ(parse_bytes("64k"), 64'000U);
  EXPECT_EQ(parse_bytes("64kB"), 64'000U);
  EXPECT_EQ(parse_bytes("64Ki"), 65'536U);
  EXPECT_EQ(parse_bytes("64KiB"), 65'536U);
  EXPECT_EQ(parse_bytes("1MiB"), 1'048'576U);
  EXPECT_EQ(parse_bytes("1GiB"), 1'073'741'824U);
  EXPECT_EQ(parse_bytes("0.5KiB"), 512U);
}

TEST(ParseDuration, TakesEveryUnit) {
  EXPECT_EQ(parse_duration("7ns"), nanoseconds(7));
  EXPECT_EQ(parse_duration("500us"), microseconds(500));
  EXPECT_EQ(parse_duration("10ms"), milliseconds(10));
  EXPECT_EQ(parse_duration("1.5s"), milliseconds(1500));
  EXPECT_EQ(parse_duration("30s"), seconds(30));
  EXPECT_EQ(parse_duration("2m"), minutes(2));
  EXPECT_EQ(parse_duration("1h"), hours(1));
  EXPECT_EQ(parse_duration("0"), seconds(0)) << "nothing needs no unit";
}

template <typename Parsed>
void expect_complaint(const Parsed& parsed, std::string_view part) {
  ASSERT_FALSE(parsed.has_value());
  EXPECT_NE(parsed.error().find(part), std::string::npos) << parsed.error();
}

TEST(ParseCount, SaysWhatIsWrong) {
  for (const std::string_view bad : {"", "many", "k", " 3", "+3", "nan", "inf", ".k"})
    expect_complaint(parse_count(bad), "is not a number");
  expect_complaint(parse_count("-1"), "'-1' is negative");
  expect_complaint(parse_count("10q"), "k, M, G");
  expect_complaint(parse_count("10 k"), "no unit joust knows");
  expect_complaint(parse_count("10K"), "no unit joust knows");
  expect_complaint(parse_count("99999999999G"), "too large");
}

TEST(ParseBytes, SaysWhatIsWrong) {
  expect_complaint(parse_bytes("64kib"), "Ki");
  expect_complaint(parse_bytes("B"), "is not a number");
  expect_complaint(parse_bytes("64BB"), "'64BB' has no unit joust knows; there are: B, kB, MB, GB, TB, KiB,");
  expect_complaint(parse_bytes("99999999Ti"), "too large");
}

TEST(ParseDuration, NeedsItsUnit) {
  expect_complaint(parse_duration("10"), "has no unit");
  expect_complaint(parse_duration("10"), "10ms");
  expect_complaint(parse_duration("10min"), "ns, us, ms, s, m, h");
  expect_complaint(parse_duration("-5s"), "is negative");
  expect_complaint(parse_duration("9999999999h"), "too large");
}

TEST(Format, KeepsThreeDigits) {
  EXPECT_EQ(format_duration(nanoseconds(999)), "999 ns");
  EXPECT_EQ(format_duration(nanoseconds(1250)), "1.25 us");
  EXPECT_EQ(format_duration(microseconds(12'500)), "12.5 ms");
  EXPECT_EQ(format_duration(milliseconds(125'000)), "125 s");
  EXPECT_EQ(format_duration(nanoseconds(0)), "0 ns");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(42), "42");
  EXPECT_EQ(format_count(106'123), "106k");
  EXPECT_EQ(format_count(1'200'000), "1.20M");
  EXPECT_EQ(format_count(2.5e9), "2.50G");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(65'536), "64.0 KiB");
  EXPECT_EQ(format_bytes(4.02 * 1048576), "4.02 MiB");
  EXPECT_EQ(format_bytes(3.0 * 1073741824), "3.00 GiB");
  EXPECT_EQ(format_data(512), "512 B");
  EXPECT_EQ(format_data(65'536), "65.5 kB");
  EXPECT_EQ(format_data(999'600), "1.00 MB");
  EXPECT_EQ(format_data(3e9), "3.00 GB");
  EXPECT_EQ(format_data(4.02e12), "4.02 TB");
  EXPECT_EQ(format_size(32), "32 B");
  EXPECT_EQ(format_size(65'536), "64 KiB");
  EXPECT_EQ(format_size(10'000'000'000), "10.0 GB") << "and not 9765625 KiB";
  EXPECT_EQ(format_size(10 << 20), "10 MiB");
  EXPECT_EQ(format_size(3ULL << 30), "3 GiB");
  EXPECT_EQ(format_size(16'000), "16.0 kB");
  EXPECT_EQ(format_size(1025), "1.02 kB");
  EXPECT_EQ(format_size(0), "0 B");
}

// Rounding must not bring out a fourth digit.

TEST(Format, RoundsAcrossTheBorders) {
  EXPECT_EQ(format_duration(nanoseconds(9'999)), "10.0 us");
  EXPECT_EQ(format_duration(nanoseconds(99'990)), "100 us");
  EXPECT_EQ(format_duration(nanoseconds(999'900)), "1.00 ms");
  EXPECT_EQ(format_count(999'900), "1.00M");
  EXPECT_EQ(format_count(99'990), "100k");
  EXPECT_EQ(format_bytes(9.999 * 1024), "10.0 KiB");
}

TEST(FormatSpeed, HasThreeDigitsOfAnyUnit) {
  EXPECT_EQ(format_speed(0), "0 B/s");
  EXPECT_EQ(format_speed(3), "3 B/s");
  EXPECT_EQ(format_speed(999.6), "1.00 kB/s");
  EXPECT_EQ(format_speed(85.4e3), "85.4 kB/s");
  EXPECT_EQ(format_speed(999.6e3), "1.00 MB/s");
  EXPECT_EQ(format_speed(1234.4e6), "1234 MB/s");
}

TEST(Units, ARatioIsNoPercentage) {
  EXPECT_EQ(parse_ratio("0.97"), 0.97);
  EXPECT_EQ(parse_ratio("1"), 1);
  for (const char* wrong : {"3%", "97", "0", "-1", "0.97x", "", "nan"})
    EXPECT_EQ(parse_ratio(wrong).error(),
              std::string("'") + wrong +
                  "' is not a ratio between 0.01 and 10 (write 0.97 for 3 % less, 1.03 for 3 % more)");
}

}  // namespace
}  // namespace joust

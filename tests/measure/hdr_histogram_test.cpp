// SPDX-License-Identifier: MIT
#include "measure/hdr_histogram.hpp"

#include <gtest/gtest.h>

#include "distribution.hpp"

namespace joust {
namespace {

// The texts are from HdrHistogram's own code for Python (hdrhistogram 0.10.8: HdrHistogram(1, 2**42 - 1, 3)),
// with the compressed part made anew by zlib.compress(content, 0).
TEST(HdrHistogram, IsTheTextThatItsOwnLibraryWrites) {
  const Distribution values = test::distribution_of({{1, 1},
                                                     {3, 2},
                                                     {2047, 1},
                                                     {2048, 7},
                                                     {5000, 1},
                                                     {123456, 300},
                                                     {1'000'000'000, std::uint64_t{1} << 40},
                                                     {Histogram::kHighestTrackable_ns, 1}});
  EXPECT_EQ(
      hdr_histogram(values),
      "HISTFAAAAE94AQFEALv/HISTEwAAABwAAAAAAAAAAwAAAAAAAAABAAAD//////8/8AAAAAAAAAECAQT1HwIOwRMCy0rYBNHPAYCA"
      "gICAQJXCAQLCoBFC");
}

TEST(HdrHistogram, OfNothingHasNoCounts) {
  EXPECT_EQ(hdr_histogram({}),
            "HISTFAAAADN4AQEoANf/HISTEwAAAAAAAAAAAAAAAwAAAAAAAAABAAAD//////8/8AAAAAAAAHEMB3g=");
}

TEST(HdrHistogram, IsReadAsItWasWritten) {
  for (const Distribution& values :
       {test::distribution_of(
            {{1, 1}, {3, 2}, {2048, 7}, {123456, 300}, {1'000'000'000, std::uint64_t{1} << 33}}),
        test::distribution_of({{Histogram::kHighestTrackable_ns, 1}}), Distribution()}) {
    const auto read = read_hdr_histogram(hdr_histogram(values));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->buckets(), values.buckets());
    EXPECT_EQ(read->count(), values.count());
    EXPECT_NEAR(read->mean(), values.mean(), 0.001 * values.mean());
  }
}

TEST(HdrHistogram, ThatIsDamagedIsNotRead) {
  const std::string good = hdr_histogram(test::distribution_of({{1, 1}, {5000, 300}, {123456, 9}}));
  for (std::size_t at = 0; at < good.size(); ++at) {
    EXPECT_FALSE(read_hdr_histogram(good.substr(0, at))) << at;
    std::string changed = good;
    changed[at] = changed[at] == 'B' ? 'C' : 'B';
    const auto read = read_hdr_histogram(changed);  // the last digit has bits that stand for nothing
    if (read) {
      EXPECT_EQ(hdr_histogram(*read), good) << at;
    }
    changed[at] = '\n';
    EXPECT_FALSE(read_hdr_histogram(changed)) << at;
  }
  EXPECT_FALSE(read_hdr_histogram("no histogram"));
}

}  // namespace
}  // namespace joust

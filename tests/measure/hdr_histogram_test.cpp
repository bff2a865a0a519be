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

}  // namespace
}  // namespace joust

// SPDX-License-Identifier: MIT
#include "cli/file_tool/progress_meter.hpp"

#include <gtest/gtest.h>

namespace joust {
namespace {

constexpr std::uint64_t kGB = 1'000'000'000;

TEST(ProgressLine, HasAllPartsWhereThereIsRoom) {
  EXPECT_EQ(progress_line(kGB, 2 * kGB, 100e6, 80),
            "[############............]  50 %  1.00 GB of 2.00 GB  100 MB/s  10 s left");
}

TEST(ProgressLine, LeavesOutPartsOnANarrowTerminal) {
  const auto line = [](std::size_t columns) { return progress_line(kGB, 2 * kGB, 100e6, columns); };
  EXPECT_EQ(line(70), "[#####.....]  50 %  1.00 GB of 2.00 GB  100 MB/s  10 s left");
  EXPECT_EQ(line(52), "[#####.....]  50 %  1.00 GB of 2.00 GB  10 s left");
  EXPECT_EQ(line(40), " 50 %  1.00 GB of 2.00 GB  10 s left");
  EXPECT_EQ(line(20), " 50 %  10 s left");
}

TEST(ProgressLine, IsNeverAsWideAsTheTerminal) {
  for (const double rate : {0.0, 1.0, 612e6, 123'456e6})
    for (const std::uint64_t total : {std::uint64_t{1}, kGB - 1, 5000 * kGB, UINT64_MAX})
      for (std::size_t columns = 1; columns < 120; ++columns)
        for (const std::uint64_t done : {std::uint64_t{0}, total / 2, total})
          EXPECT_LT(progress_line(done, total, rate, columns).size(), columns);
}

TEST(ProgressLine, TellsTheTimeLeftInWholeSecondsOrNotAtAll) {
  const auto line = [](std::uint64_t left, double rate) { return progress_line(kGB - left, kGB, rate, 120); };
  EXPECT_TRUE(line(1, 1e9).ends_with("  1 s left")) << line(1, 1e9);
  EXPECT_TRUE(line(59, 1).ends_with("  59 s left"));
  EXPECT_TRUE(line(60, 1).ends_with("  0:01:00 left"));
  EXPECT_TRUE(line(3 * 3600 + 65, 1).ends_with("  3:01:05 left"));
  for (const std::string& without : {line(0, 1e9), line(kGB, 0), line(kGB, 1e-9)})
    EXPECT_EQ(without.find("left"), std::string::npos) << without;
}

}  // namespace
}  // namespace joust

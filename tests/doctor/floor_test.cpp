// SPDX-License-Identifier: MIT
#include "doctor/floor.hpp"

#include <gtest/gtest.h>

#include <set>

#include "measure/affinity.hpp"

namespace joust::doctor {
namespace {

const FloorFigure& figure(const std::vector<FloorFigure>& floor, std::string_view key) {
  for (const FloorFigure& one : floor)
    if (one.key == key) return one;
  throw std::out_of_range(std::string(key));
}

TEST(Floor, OfThisMachineHasASpreadForEachFigure) {
  const std::vector<int> before = allowed_cpus();
  const std::vector<FloorFigure> floor = measure_floor(read_topology(before));
  std::set<std::string_view> keys;
  for (const FloorFigure& one : floor) {
    EXPECT_TRUE(keys.insert(one.key).second) << one.key;
    if (!one.spread) {
      EXPECT_NE(one.spread.error(), "") << one.key;
      continue;
    }
    EXPECT_GT(one.spread->low, 0) << one.key;
    EXPECT_LE(one.spread->low, one.spread->median) << one.key;
    EXPECT_LE(one.spread->median, one.spread->high) << one.key;
    EXPECT_GE(one.spread->samples, 3U) << one.key;
  }
  EXPECT_TRUE(figure(floor, "system_call").spread);
  EXPECT_EQ(allowed_cpus(), before) << "this thread is bound as it was";
}

TEST(Floor, OfOneCpuLacksWhatNeedsTwo) {
  const int cpu = allowed_cpus().front();
  const std::vector<FloorFigure> floor = measure_floor(read_topology({&cpu, 1}));
  EXPECT_TRUE(figure(floor, "wake_up_same_cpu").spread);
  for (const char* key : {"wake_up_across", "spinning_round_trip", "loopback_stream"}) {
    ASSERT_FALSE(figure(floor, key).spread) << key;
    EXPECT_EQ(figure(floor, key).spread.error(), "there is one CPU only");
  }
}

TEST(Floor, OfACpuThatIsNotThereHasTheReason) {
  const CpuPlace none{.cpu = 1023, .core = 1023};
  for (const FloorFigure& one : measure_floor({&none, 1})) EXPECT_FALSE(one.spread) << one.key;
}

}  // namespace
}  // namespace joust::doctor

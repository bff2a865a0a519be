// SPDX-License-Identifier: MIT
#include "measure/clock_rate.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "temporary_folder.hpp"

namespace joust {
namespace {

// The /proc and /sys of another machine.
class QuotaOfAGroup : public testing::Test {
 protected:
  void plant(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  std::optional<Throttling> read() const { return read_throttling(root_); }

  const test::TemporaryFolder folder_;
  const std::string root_ = folder_.path() + "/";
};

TEST_F(QuotaOfAGroup, Version2CountsAncestorsToo) {
  plant("proc/self/cgroup", "0::/a.slice/b.scope\n");
  plant("sys/fs/cgroup/cpu.stat", "usage_usec 9\n");  // the root has no quota
  plant("sys/fs/cgroup/a.slice/cpu.stat",
        "usage_usec 9\nnr_periods 20\nnr_throttled 5\nthrottled_usec 250000\n");
  plant("sys/fs/cgroup/a.slice/b.scope/cpu.stat", "nr_periods 20\nnr_throttled 2\nthrottled_usec 1000000\n");
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->times, 7U);
  EXPECT_DOUBLE_EQ(read()->time_s, 1.25);
}

TEST_F(QuotaOfAGroup, Version1CountsNanoseconds) {
  plant("proc/self/cgroup", "5:memory:/x\n3:cpu,cpuacct:/docker/1f\n2:cpuset:/\n");
  plant("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 8\nnr_throttled 3\nthrottled_time 500000000\n");
  ASSERT_TRUE(read()) << "the group is the root of the container's mount";
  EXPECT_EQ(read()->times, 3U);
  EXPECT_DOUBLE_EQ(read()->time_s, 0.5);
}

TEST_F(QuotaOfAGroup, IsUnknownWithoutCounters) {
  EXPECT_FALSE(read());
  plant("proc/self/cgroup", "0::/\n1:cpuset:/\n");
  plant("sys/fs/cgroup/cpu.stat", "usage_usec 9\n");
  EXPECT_FALSE(read());
}

TEST(Throttling, OfAWindowIsTheDifference) {
  const Throttling window = Throttling{.times = 5, .time_s = 2} - Throttling{.times = 3, .time_s = 0.5};
  EXPECT_EQ(window.times, 2U);
  EXPECT_DOUBLE_EQ(window.time_s, 1.5);
  EXPECT_EQ((Throttling{} - Throttling{.times = 1, .time_s = 1}).times, 0U) << "in another group by now";
}

using ClocksOfAMachine = QuotaOfAGroup;

TEST_F(ClocksOfAMachine, AreThoseOfTheCpusThatAreNamed) {
  const std::vector<int> all{0, 1, 2, 3};
  EXPECT_FALSE(read_clock_rates(all, root_));
  plant("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000\n");
  plant("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3500000\n");
  plant("sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "2100000\n");
  EXPECT_DOUBLE_EQ(read_clock_rates(all, root_)->least_mhz, 800);
  const auto rates = read_clock_rates(std::span(all).subspan(1), root_);
  ASSERT_TRUE(rates);
  EXPECT_DOUBLE_EQ(rates->least_mhz, 2100);
  EXPECT_DOUBLE_EQ(rates->most_mhz, 3500);
}

}  // namespace
}  // namespace joust

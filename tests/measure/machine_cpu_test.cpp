// SPDX-License-Identifier: MIT
#include "measure/machine_cpu.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "measure/environment.hpp"
#include "temporary_folder.hpp"

namespace joust {
namespace {

constexpr const char* kProcStat =
    "cpu  100 20 300 4000 50 6 70 80 9 1\n"
    "cpu0 1 1 1 1 1 1 1 1 0 0\n"
    "intr 12345\n";

TEST(MachineCpu, ReadsTheLineOfAllCpusInSeconds) {
  const auto cpu = parse_machine_cpu(kProcStat, 100);
  ASSERT_TRUE(cpu);
  EXPECT_DOUBLE_EQ(cpu->user_s, 1);
  EXPECT_DOUBLE_EQ(cpu->nice_s, 0.2);
  EXPECT_DOUBLE_EQ(cpu->system_s, 3);
  EXPECT_DOUBLE_EQ(cpu->idle_s, 40);
  EXPECT_DOUBLE_EQ(cpu->iowait_s, 0.5);
  EXPECT_DOUBLE_EQ(cpu->irq_s, 0.06);
  EXPECT_DOUBLE_EQ(cpu->softirq_s, 0.7);
  EXPECT_DOUBLE_EQ(cpu->steal_s, 0.8);
  EXPECT_DOUBLE_EQ(cpu->total_s(), 46.26);  // the guests' 9 and 1 are in user and nice already
}

TEST(MachineCpu, RefusesTextWithoutAllEightKinds) {
  EXPECT_FALSE(parse_machine_cpu("", 100));
  EXPECT_FALSE(parse_machine_cpu("cpu0 1 2 3 4 5 6 7 8\n", 100));
  EXPECT_FALSE(parse_machine_cpu("cpu  1 2 3 4 5 6 7\n", 100));
  EXPECT_FALSE(parse_machine_cpu("cpu  1 2 3 x 5 6 7 8\n", 100));
}

TEST(MachineCpu, ReadsTheLinesOfSomeCpus) {
  const std::string text =
      "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 0 0 99 0 0 0 0 0 0\ncpu1 1 0 0 50 0 0 0 49 0 0\ncpu10 0 0 0 80 0 0 0 "
      "20 0 0\n";
  const std::vector<int> one{1}, two{1, 10}, absent{2};
  EXPECT_DOUBLE_EQ(parse_machine_cpu(text, 1, one)->steal_fraction(), 0.49);
  EXPECT_DOUBLE_EQ(parse_machine_cpu(text, 1, two)->steal_s, 69);
  EXPECT_DOUBLE_EQ(parse_machine_cpu(text, 1, two)->total_s(), 200);
  EXPECT_FALSE(parse_machine_cpu(text, 1, absent)) << "it is offline";
}

TEST(MachineCpu, FractionsAreOfAllTimeOfTheWindowWithSteal) {
  const auto earlier = parse_machine_cpu("cpu 100 0 100 1000 0 0 0 10 0 0\n", 1);
  const auto later = parse_machine_cpu("cpu 140 0 110 1020 0 0 10 30 0 0\n", 1);
  ASSERT_TRUE(earlier && later);
  const MachineCpu window = *later - *earlier;
  EXPECT_DOUBLE_EQ(window.total_s(), 100);
  EXPECT_DOUBLE_EQ(window.busy_s(), 60);
  EXPECT_DOUBLE_EQ(window.busy_fraction(), 0.6);
  EXPECT_DOUBLE_EQ(window.softirq_fraction(), 0.1);
  EXPECT_DOUBLE_EQ(window.steal_fraction(), 0.2);
}

TEST(MachineCpu, AnEmptyWindowHasNoFractionsAndNothingRunsBackwards) {
  MachineCpu earlier;
  earlier.iowait_s = 3;
  const MachineCpu window = MachineCpu{} - earlier;
  EXPECT_DOUBLE_EQ(window.iowait_s, 0);
  EXPECT_DOUBLE_EQ(window.steal_fraction(), 0);
}

TEST(MachineCpu, SeesThisMachineWork) {
  const auto before = read_machine_cpu();
  ASSERT_TRUE(before);
  const std::clock_t until = std::clock() + CLOCKS_PER_SEC / 10;
  while (std::clock() < until) {
  }
  EXPECT_GE((*read_machine_cpu() - *before).busy_s(), 0.07);
}

// A CPU that sleeps often: its kinds add up to 4.1 s of 5.
TEST(MachineCpu, MayHaveBeenBusyInTimeThatTheKernelHasMissed) {
  const MachineCpu before{.user_s = 10, .idle_s = 20, .clock_s = 100};
  const MachineCpu after{.user_s = 12.4, .idle_s = 21.7, .clock_s = 105};
  const MachineCpu window = after - before;
  EXPECT_NEAR(window.busy_s(), 2.4, 1e-9);
  EXPECT_NEAR(window.most_busy_s(), 3.3, 1e-9);
  EXPECT_NEAR((window + window).most_busy_s(), 6.6, 1e-9);
  EXPECT_DOUBLE_EQ((MachineCpu{.user_s = 3, .idle_s = 2}).most_busy_s(), 3) << "without a clock";
}

TEST(SoftirqTime, IsWhatAClockLeavesOutOfSending) {
  EXPECT_EQ(softirq_time(0.99), kSoftirqInside);
  EXPECT_EQ(softirq_time(0.55), kSoftirqApart);
  EXPECT_EQ(softirq_time(std::nullopt), "unknown");
}

TEST(SoftirqTime, IsMeasuredOnThisMachine) {
  const auto share = counted_share_of_sending();
  ASSERT_TRUE(share);
  EXPECT_GT(*share, 0.01);
  EXPECT_LT(*share, 1.2) << "one thread has one CPU";
}

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

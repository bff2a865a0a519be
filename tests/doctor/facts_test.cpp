// SPDX-License-Identifier: MIT
#include "doctor/facts.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "temporary_folder.hpp"

namespace joust::doctor {
namespace {

// The /proc and /sys of another machine.
class PlantedFacts : public testing::Test {
 protected:
  void plant(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  Facts read() const { return read_facts(root_); }

  const test::TemporaryFolder folder_;
  const std::string root_ = folder_.path() + "/";
};

TEST_F(PlantedFacts, TheLeastQuotaOfAllGroupsCounts) {
  plant("proc/self/cgroup", "0::/a.slice/b.scope\n");
  plant("sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n");
  plant("sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000\n");
  const Facts facts = read();
  ASSERT_TRUE(facts.quota);
  EXPECT_DOUBLE_EQ(facts.quota->cpus, 1.5);
  EXPECT_EQ(facts.quota->file, root_ + "sys/fs/cgroup/a.slice/cpu.max");
  EXPECT_EQ(facts.quota->value, "150000 100000");
  EXPECT_EQ(facts.quota->no_limit, "max");
}

TEST_F(PlantedFacts, AQuotaOfVersion1) {
  plant("proc/self/cgroup", "3:cpu,cpuacct:/docker/1f\n");
  plant("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  plant("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  const Facts facts = read();
  ASSERT_TRUE(facts.quota);
  EXPECT_DOUBLE_EQ(facts.quota->cpus, 0.5);
  EXPECT_EQ(facts.quota->no_limit, "-1");
  EXPECT_EQ(facts.container, "Docker");
  plant("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_FALSE(read().quota);
}

TEST_F(PlantedFacts, ContainersLeaveTraces) {
  EXPECT_EQ(read().container, "");
  plant("proc/self/cgroup", "0::/kubepods.slice/pod1\n");
  EXPECT_EQ(read().container, "Kubernetes");
  plant("run/systemd/container", "systemd-nspawn\n");
  EXPECT_EQ(read().container, "systemd-nspawn");
  plant("run/.containerenv", "");
  EXPECT_EQ(read().container, "Podman");
}

TEST_F(PlantedFacts, SmallFilesAreUnderstood) {
  plant("proc/meminfo", "MemTotal: 100 kB\nMemAvailable:   64 kB\nSwapTotal:  10 kB\nSwapFree:  4 kB\n");
  plant("proc/net/sockstat", "sockets: used 10\nTCP: inuse 1 orphan 0 tw 2080 alloc 1 mem 152\n");
  plant("proc/self/status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n");
  plant("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet \n");
  const Facts facts = read();
  EXPECT_EQ(facts.memory.swap_used_bytes, 6U << 10);
  EXPECT_EQ(facts.memory.available_bytes, 64U << 10);
  EXPECT_EQ(facts.time_wait, 2080U);
  EXPECT_EQ(facts.seccomp, 2);
  EXPECT_EQ(facts.clock_sources, "tsc hpet");
}

TEST(Facts, OfThisMachineAreThere) {
  const Facts facts = read_facts();
  EXPECT_FALSE(facts.cpus.empty());
  EXPECT_GT(facts.files.hard, 0U);
  EXPECT_NE(facts.environment.value("kernel"), "unknown");
}

TEST(WatchOthers, SeesTheMachineAndNotThisProcess) {
  Facts facts;
  std::atomic<bool> done = false;
  const std::jthread works([&done] {
    while (!done) {
    }
  });
  watch_others(facts, std::chrono::milliseconds(300));
  done = true;
  ASSERT_TRUE(facts.use.waiting && facts.use.since_boot);
  EXPECT_GE(facts.use.waiting_s, 0.3);
  EXPECT_GT(facts.use.since_boot->total_s(), 0);
  for (const BusyProcess& busy : facts.use.busy) EXPECT_NE(busy.process, ::getpid());
}

}  // namespace
}  // namespace joust::doctor

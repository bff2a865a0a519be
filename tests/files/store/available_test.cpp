// SPDX-License-Identifier: MIT
#include "base/limits.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "base/fd.hpp"
#include "files/store/disk/disk_file.hpp"
#include "temporary_folder.hpp"

namespace joust {
namespace {

// A machine with 1,000 KiB available, and control groups as a test writes them.
class AvailableMemory : public testing::Test {
 protected:
  AvailableMemory() {
    write("proc/meminfo", "MemTotal:  5000 kB\nMemFree: 10 kB\nMemAvailable:    1000 kB\nBuffers: 1 kB\n");
  }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Available available() const {
    return available_memory({.proc = folder_.file("proc"), .cgroups = folder_.file("cgroup")});
  }

  test::TemporaryFolder folder_;
};

TEST_F(AvailableMemory, IsThatOfTheMachine) {
  EXPECT_EQ(available().bytes, 1'024'000U);
  EXPECT_EQ(available().limit, "the machine's memory");
}

TEST_F(AvailableMemory, IsWhatTheControlGroupLeaves) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("cgroup/a/b/memory.max", "500000\n");
  write("cgroup/a/b/memory.current", "300000\n");
  EXPECT_EQ(available().bytes, 200'000U);
  EXPECT_EQ(available().limit, "the memory limit of control group /a/b");
}

TEST_F(AvailableMemory, IsWhatAGroupAboveLeaves) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("cgroup/a/b/memory.max", "max\n");
  write("cgroup/a/b/memory.current", "300000\n");
  write("cgroup/a/memory.max", "400000\n");
  write("cgroup/a/memory.current", "390000\n");
  EXPECT_EQ(available().bytes, 10'000U);
  write("cgroup/a/memory.current", "410000\n");
  EXPECT_EQ(available().bytes, 0U);
}

// The kernel drops it when memory is needed; a container that has read many files is full of it.
TEST_F(AvailableMemory, CountsThePageCacheAsAvailable) {
  write("proc/self/cgroup", "0::/a\n");
  write("cgroup/a/memory.max", "500000\n");
  write("cgroup/a/memory.current", "500000\n");
  write("cgroup/a/memory.stat", "anon 100000\nfile 400000\ninactive_file 250000\nactive_file 50000\n");
  EXPECT_EQ(available().bytes, 300'000U);
}

TEST_F(AvailableMemory, KnowsTheOlderControlGroups) {
  write("proc/self/cgroup", "5:cpu:/x\n4:cpuacct,memory:/docker/1f\n0::/\n");
  write("cgroup/memory/memory.limit_in_bytes", "600000\n");
  write("cgroup/memory/memory.usage_in_bytes", "200000\n");
  write("cgroup/memory/memory.stat", "cache 5\ntotal_inactive_file 30000\ntotal_active_file 20000\n");
  EXPECT_EQ(available().bytes, 450'000U) << "a container sees its own group as the root of all";
  EXPECT_EQ(available().limit, "the memory limit of control group /");
}

// The limit of a process for as long as this lives.
class Limited {
 public:
  Limited(__rlimit_resource resource, rlim_t limit) : resource_(resource) {
    EXPECT_EQ(::getrlimit(resource, &before_), 0);
    const rlimit small{.rlim_cur = limit, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(resource, &small), 0);
  }
  ~Limited() { ::setrlimit(resource_, &before_); }

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

TEST_F(AvailableMemory, IsNoMoreThanTheLargestFile) {
  Available least;
  {
    const Limited limited(RLIMIT_FSIZE, 5'000);
    least = available();
  }
  EXPECT_EQ(least.bytes, 5'000U);
  EXPECT_TRUE(least.limit.starts_with("RLIMIT_FSIZE")) << least.limit;
}

// With as many pages as the test says are in use, there is no address space left for more than 5,000 bytes.
TEST_F(AvailableMemory, IsNoMoreThanTheAddressSpace) {
  constexpr std::uint64_t kPages = 1ULL << 34;
  write("proc/self/statm", std::to_string(kPages) + " 100 100 1 0 100 0\n");
  const std::uint64_t used = kPages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  Available least;
  {
    const Limited limited(RLIMIT_AS, used + 5'000);
    least = available();
  }
  EXPECT_EQ(least.bytes, 5'000U);
  EXPECT_TRUE(least.limit.starts_with("RLIMIT_AS")) << least.limit;
}

TEST_F(AvailableMemory, IsLookedAtBeforeAFileIsGenerated) {
  std::string words;
  try {
    const Limited limited(RLIMIT_FSIZE, 5'000);
    generated_file(6'000);
  } catch (const std::system_error& error) {
    words = error.what();
  }
  EXPECT_TRUE(words.starts_with("5.86 KiB are needed, but only 4.88 KiB are available (RLIMIT_FSIZE"))
      << words;
}

TEST(AvailableSpace, IsThatOfTheFileSystem) {
  const test::TemporaryFolder folder;
  const Fd fd(::open(folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto space = std::filesystem::space(folder.path());
  const Available available = available_space(fd.get(), 1);
  EXPECT_LE(available.bytes, space.capacity);
  EXPECT_GT(available.bytes, 0U);
  EXPECT_EQ(available_space(-1, 1).bytes, UINT64_MAX);
}

}  // namespace
}  // namespace joust

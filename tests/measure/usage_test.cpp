// SPDX-License-Identifier: MIT
#include "measure/usage.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "measure/processes.hpp"

namespace joust {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Burns this much CPU time of this process, however much of it others take.
void burn(double cpu_s) {
  const std::clock_t until = std::clock() + static_cast<std::clock_t>(cpu_s * CLOCKS_PER_SEC);
  while (std::clock() < until) {
  }
}

// A process that does `work` and then waits to be killed; made known through a pipe when `work` is done.
class Child {
 public:
  template <typename Work>
  explicit Child(Work work) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    const Fd read_end(ends[0]);
    Fd write_end(ends[1]);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // so that a grandchild ends with the child
      work();
      [[maybe_unused]] const auto told = ::write(write_end.get(), "x", 1);
      for (;;) ::pause();
    }
    write_end.close();
    char byte;
    if (::read(read_end.get(), &byte, 1) != 1) ADD_FAILURE() << "the child did not do its work";
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(PeakMemory, IsTheGreaterOfWhatTheKernelTellsOf) {
  const std::string_view status = "VmPeak:\t 9000 kB\nVmHWM:\t    100 kB\n";
  EXPECT_EQ(peak_memory(status, ""), 100U * 1024);
  EXPECT_EQ(peak_memory(status, "7ffe-7fff ---p [rollup]\nRss:      80 kB\nPss: 70 kB\n"), 100U * 1024);
  EXPECT_EQ(peak_memory(status, "7ffe-7fff ---p [rollup]\nRss:     160 kB\nPss: 70 kB\n"), 160U * 1024)
      << "as where threads keep their counts to themselves";
  EXPECT_EQ(peak_memory("", ""), 0U);
}

TEST(OwnUsage, GrowsWithTheWorkDone) {
  const Usage before = own_usage();
  burn(0.05);
  const Usage used = own_usage() - before;
  EXPECT_GE(used.user_s + used.system_s, 0.045);
}

TEST(OwnUsage, CountsEveryWaitAsAVoluntarySwitchOfAnyThread) {
  const Usage before = own_usage();
  std::jthread([] {
    for (int i = 0; i < 20; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }).join();
  EXPECT_GE((own_usage() - before).voluntary_switches, 20u);
}

TEST(OwnUsage, PeakMemoryStaysWhenTheMemoryIsGone) {
  const std::uint64_t before = own_usage().peak_memory_bytes;
  {
    std::vector<char> memory(64 * kMiB);
    std::memset(memory.data(), 1, memory.size());
    asm volatile("" : : "r"(memory.data()) : "memory");
  }
  EXPECT_GT(before, kMiB);
  EXPECT_GE(own_usage().peak_memory_bytes, 64 * kMiB);
}

TEST(Usage, AWindowKeepsThePeakAndNeverGoesBelowZero) {
  const Usage window = Usage{3, 2, 10, 5, 100} - Usage{1, 2.5, 4, 9, 80};
  EXPECT_DOUBLE_EQ(window.user_s, 2);
  EXPECT_DOUBLE_EQ(window.system_s, 0);
  EXPECT_EQ(window.voluntary_switches, 6u);
  EXPECT_EQ(window.involuntary_switches, 0u);
  EXPECT_EQ(window.peak_memory_bytes, 100u);
}

TEST(UsageOfProcesses, SeesTheWorkOfAChildWhateverItsName) {
  const Child child([] {
    ::prctl(PR_SET_NAME, "a) R 1 (b");  // would shift the fields of a careless reader of /proc/PID/stat
    burn(0.1);
  });
  const auto usage = usage_of_processes(process_tree(child.pid()));
  ASSERT_TRUE(usage);
  EXPECT_GE(usage->user_s + usage->system_s, 0.07);  // two ticks may be missing
  EXPECT_LE(usage->user_s + usage->system_s, 5);
  EXPECT_GT(usage->peak_memory_bytes, kMiB);
}

TEST(UsageOfProcesses, IncludesGrandchildrenAndEveryThread) {
  const Child child([] {
    static const Child grandchild([] { burn(0.1); });  // static: alive while the test looks
    std::atomic<bool> slept = false;
    std::thread([&slept] {
      for (int i = 0; i < 20; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      slept = true;
      for (;;) ::pause();
    }).detach();
    while (!slept) std::this_thread::yield();
  });
  const auto tree = usage_of_processes(process_tree(child.pid()));
  ASSERT_TRUE(tree);
  EXPECT_GE(tree->user_s + tree->system_s, 0.07);
  EXPECT_GE(tree->voluntary_switches, 20u);
  EXPECT_GT(tree->peak_memory_bytes, 2 * kMiB);
}

TEST(UsageOfProcesses, HasNoAnswerForAProcessThatIsNot) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ::waitpid(pid, nullptr, 0);
  EXPECT_FALSE(usage_of_processes(process_tree(pid)));
}

}  // namespace
}  // namespace joust

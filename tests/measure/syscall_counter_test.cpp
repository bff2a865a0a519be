// SPDX-License-Identifier: MIT
#include "measure/syscall_counter.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.hpp"

namespace joust {
namespace {

// Makes `times` system calls and not one by accident.
void make_calls(int times) {
  for (int i = 0; i < times; ++i) ::syscall(SYS_getppid);
}

// A child that waits at the gate before it executes its program.
class GatedProgram {
 public:
  explicit GatedProgram(std::vector<std::string> words) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    const Fd wait_end(ends[0]);
    gate_ = Fd(ends[1]);
    pid_ = ::fork();
    if (pid_ != 0) return;
    gate_.close();
    char byte;
    [[maybe_unused]] const auto opened = ::read(wait_end.get(), &byte, 1);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ~GatedProgram() { run(); }
  GatedProgram(const GatedProgram&) = delete;
  GatedProgram& operator=(const GatedProgram&) = delete;

  pid_t pid() const { return pid_; }

  // Opens the gate and waits for the end; the exit code.
  int run() {
    gate_.close();
    int status = exit_status_.value_or(0);
    if (!exit_status_ && ::waitpid(pid_, &status, 0) == pid_) exit_status_ = status;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  Fd gate_;
  pid_t pid_;
  std::optional<int> exit_status_;
};

// How many system calls a program makes in its whole life, or why they cannot be counted here.
std::expected<std::uint64_t, std::string> calls_of(const std::vector<std::string>& words) {
  GatedProgram program(words);
  const auto counter = SyscallCounter::attach(program.pid());
  if (!counter) return std::unexpected(counter.error());
  make_calls(1000);
  EXPECT_EQ(counter->count(), 0u) << "counting begins with the program";
  EXPECT_EQ(program.run(), 0);
  const std::uint64_t total = counter->count();
  make_calls(1000);
  EXPECT_EQ(counter->count(), total) << "nobody else's calls are counted";
  return total;
}

TEST(SyscallCounter, CountsWhatAProgramCalls) {
  const auto calls = calls_of({"dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1000", "status=none"});
  if (!calls) GTEST_SKIP() << calls.error();
  EXPECT_GE(*calls, 2000u);
  EXPECT_LE(*calls, 2400u);  // the rest starts and ends the program
}

TEST(SyscallCounter, CountsDescendants) {
  const std::string dd = "dd if=/dev/zero of=/dev/null bs=1 count=1000 status=none";
  const auto calls = calls_of({"sh", "-c", dd + " & " + dd + " & wait; sh -c '" + dd + "'; exit 0"});
  if (!calls) GTEST_SKIP() << calls.error();
  EXPECT_GE(*calls, 6000u);
  EXPECT_LE(*calls, 8000u);
}

TEST(SyscallCounter, CountsThreads) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const auto calls = calls_of({program, "--gtest_also_run_disabled_tests", "--gtest_brief=1",
                               "--gtest_filter=SyscallCounterProgram.DISABLED_OfFourThreads"});
  if (!calls) GTEST_SKIP() << calls.error();
  EXPECT_GE(*calls, 40'000u);
}

// Run by the test above, as a program of its own.
TEST(SyscallCounterProgram, DISABLED_OfFourThreads) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([] { make_calls(10'000); });
}

TEST(SyscallCounter, SaysWhyItCannotCount) {
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  ::waitpid(ended, nullptr, 0);
  const auto counter = SyscallCounter::attach(ended);
  ASSERT_FALSE(counter);
  EXPECT_FALSE(counter.error().empty());
}

TEST(SyscallCounter, NamesThePermissionThatIsMissing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give its permissions away";
  const pid_t pid = ::fork();
  if (pid == 0) {
    constexpr uid_t kNobody = 65534;
    if (::setuid(kNobody) != 0) ::_exit(2);
    const auto counter = SyscallCounter::attach(::getpid());
    ::_exit(!counter && counter.error().find("root") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace joust

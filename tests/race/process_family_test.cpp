// SPDX-License-Identifier: MIT
#include "race/trial/process_family.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "measure/processes.hpp"
#include "race/trial/child.hpp"

namespace joust::race {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLongest = seconds(30);

Time soon() {
  return Clock::now() + kLongest;
}

bool eventually(const std::function<bool()>& holds) {
  for (const Time deadline = soon(); Clock::now() < deadline;) {
    if (holds()) return true;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return holds();
}

bool exists(pid_t process) {
  const auto facts = process_facts(process);
  return facts && !facts->ended();
}

// A shell that runs this, as a foreign program.
std::unique_ptr<Child> shell(const std::string& text) {
  return std::make_unique<Child>(
      ChildCommand{.program = "/bin/sh", .words = {"sh", "-c", text}, .foreign = true});
}

// Stopped, or ended and perhaps not waited for yet, or in a wait from which it stops.
bool stands_still(pid_t process) {
  const auto facts = process_facts(process);
  return !facts || facts->stopped() || facts->ended() || facts->waits_uninterruptibly();
}

// Reads lines until one is a number.
pid_t told_process(Child& child) {
  Child* const one = &child;
  for (const Time deadline = soon(); Clock::now() < deadline;) {
    if (const auto line = child.take_line()) return static_cast<pid_t>(std::stol(*line));
    Child::wait_any({&one, 1}, -1, deadline);
  }
  return -1;
}

// In a session of its own, with no parent but this process: as a daemon begins.
const std::string kDaemon = "(setsid sh -c 'echo $$; exec sleep 60' &)";
// The same, but it uses the CPU.
const std::string kBusyDaemon = "(setsid sh -c 'echo $$; while :; do :; done' &)";

TEST(AChild, ThatCannotBeBegunLeavesNothing) {
  pid_t begun = -1;
  EXPECT_THROW(Child({.program = "/bin/true", .words = {"true"}},
                     [&](pid_t process) {
                       begun = process;
                       throw std::runtime_error("no counter");
                     }),
               std::runtime_error);
  ASSERT_GT(begun, 0);
  EXPECT_FALSE(process_facts(begun)) << "not even a process that nobody has waited for";
}

TEST(ProcessFamily, ADaemonIsAMemberAndKeepsItsProgramFromHavingEnded) {
  const auto child = shell(kDaemon + "; exit 3");
  const pid_t daemon = told_process(*child);
  ASSERT_TRUE(eventually([&] { return process_facts(daemon)->parent == ::getpid(); }));
  EXPECT_EQ(std::ranges::count(child->processes(), daemon), 1);
  Child* const one = child.get();
  for (int i = 0; i < 50; ++i) Child::wait_any({&one, 1}, -1, Clock::now() + milliseconds(1));
  EXPECT_FALSE(child->ended());
  EXPECT_EQ(child->how_it_ended(), "exit code 3");
}

TEST(ProcessFamily, ADaemonIsStoppedContinuedAndKilledWithItsProgram) {
  auto child = shell(kBusyDaemon + "; sleep 60");
  const pid_t daemon = told_process(*child);
  child->stop_all(soon());
  for (const pid_t process : child->processes()) EXPECT_TRUE(stands_still(process)) << process;
  EXPECT_TRUE(process_facts(daemon)->stopped());
  child->send_all(SIGCONT);
  EXPECT_TRUE(eventually([&] { return !process_facts(daemon)->stopped(); }));
  child.reset();
  EXPECT_FALSE(process_facts(daemon)) << "neither alive nor left as a zombie";
}

TEST(ProcessFamily, WhoeverIsStartedWhileItStopsIsStoppedToo) {
  // A chain of daemons, each of which starts the next one and ends.
  const auto child =
      shell("next='(setsid sh -c \"eval \\\"\\$next\\\"\" &) ; exit'; export next; eval \"$next\"");
  std::this_thread::sleep_for(milliseconds(20));
  child->stop_all(soon());
  const auto processes = child->processes();
  for (const pid_t process : processes) EXPECT_TRUE(stands_still(process)) << process;
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(child->processes(), processes);
}

// As a shell is that starts a program: it waits in vfork() until its child calls exec.
TEST(ProcessFamily, AProgramWhoseChildStopsBeforeItsExecIsNotWaitedFor) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer makes a fork() of vfork()";
#endif
  const pid_t program = ::fork();
  if (program == 0) {
    ::setpgid(0, 0);
    if (::vfork() == 0) {
      ::raise(SIGSTOP);
      ::_exit(0);
    }
    ::_exit(0);
  }
  ASSERT_GT(program, 0);
  ASSERT_TRUE(eventually([&] { return process_facts(program)->waits_uninterruptibly(); }));
  {
    ProcessFamily family(program);
    const Time began = Clock::now();
    family.stop(began + std::chrono::seconds(30));
    EXPECT_LT(Clock::now() - began, std::chrono::seconds(10));
  }
  ::waitpid(program, nullptr, 0);
}

TEST(ProcessFamily, OrphansBelongToTheFamilyThatRan) {
  const auto first = shell(kDaemon + "; sleep 60");
  const pid_t daemon = told_process(*first);
  first->stop_all(soon());
  const auto second = shell(kDaemon + "; sleep 60");
  const pid_t other = told_process(*second);
  EXPECT_EQ(std::ranges::count(second->processes(), other), 1);
  EXPECT_EQ(std::ranges::count(second->processes(), daemon), 0);
  EXPECT_EQ(std::ranges::count(first->processes(), daemon), 1);
  EXPECT_EQ(std::ranges::count(first->processes(), other), 0);
}

TEST(ProcessFamily, ChildrenThatThisProcessHadBeforeAreNoneOfIt) {
  // In a process of its own, because what it had before is looked for once.
  const pid_t tester = ::fork();
  if (tester == 0) {
    const pid_t before = ::fork();
    if (before == 0) {
      for (;;) ::pause();
    }
    { const auto child = shell("exit 0"); }
    const bool lives = exists(before);
    ::kill(before, SIGKILL);
    ::_exit(lives ? 0 : 1);
  }
  int status = 0;
  ::waitpid(tester, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(ProcessFamily, CountsTheCpuTimeOfOrphansThatHaveEnded) {
  const auto child = shell("(setsid sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done' &) ; exit 0");
  Child* const one = child.get();
  ASSERT_TRUE(eventually([&] {
    Child::wait_any({&one, 1}, -1, Clock::now() + milliseconds(10));
    return child->ended();
  }));
  ASSERT_TRUE(child->usage());
  EXPECT_GT(child->usage()->user_s + child->usage()->system_s, 0.02);
}

TEST(ProcessFamily, CountsTheCpuTimeOfProcessesThatWereWaitedFor) {
  const auto child = shell("sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; echo 1; sleep 60");
  told_process(*child);
  EXPECT_GT(child->ended_cpu_s(), 0.02);
}

}  // namespace
}  // namespace joust::race

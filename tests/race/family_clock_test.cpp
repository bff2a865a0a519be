// SPDX-License-Identifier: MIT
#include "race/trial/process_family.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <vector>

#include "measure/processes.hpp"

namespace joust::race {
namespace {

constexpr double kWork_s = 0.15;

// A process that starts another one, which works and ends when it is told to. It waits for it, or ignores its
// end.
class Parent {
 public:
  explicit Parent(bool waits) {
    int pipe[2] = {};
    if (::pipe(pipe) != 0) throw std::runtime_error("pipe()");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(pipe[1]);
      struct sigaction action {};
      action.sa_handler = waits ? SIG_DFL : SIG_IGN;
      ::sigaction(SIGCHLD, &action, nullptr);
      const pid_t child = ::fork();
      char byte = 0;
      if (child == 0) {
        while (cpu_time_s(::getpid()).value_or(1) < kWork_s) {
        }
        ::_exit(::read(pipe[0], &byte, 1) == 0 ? 0 : 1);
      }
      ::waitpid(child, nullptr, 0);
      for (;;) ::pause();
    }
    ::close(pipe[0]);
    tell_ = pipe[1];
  }
  ~Parent() {
    if (tell_ >= 0) ::close(tell_);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;

  std::vector<pid_t> processes() const { return process_tree(pid_); }
  double ended_s() const {
    const auto facts = process_facts(pid_);
    return facts ? facts->ended_user_s + facts->ended_system_s : 0;
  }
  void end_child() {
    ::close(tell_);
    tell_ = -1;
    while (processes().size() > 1) ::usleep(1000);
  }

 private:
  pid_t pid_ = -1;
  int tell_ = -1;
};

double read(FamilyClock& clock, const Parent& parent) {
  return clock.read_s(parent.processes(), parent.ended_s());
}

double read_until_worked(FamilyClock& clock, const Parent& parent) {
  double used_s = 0;
  while ((used_s = read(clock, parent)) < kWork_s) ::usleep(5000);
  return used_s;
}

TEST(FamilyClocks, AProcessThatStartsLateAndEndsCountsWhereSomethingWaitsForIt) {
  const pid_t none = -1;
  FamilyClock clock;
  Parent parent(true);
  EXPECT_EQ(FamilyClock().read_s({&none, 0}, 0), 0);
  const double before_s = read_until_worked(clock, parent);
  parent.end_child();
  EXPECT_NEAR(read(clock, parent), before_s, 0.1) << "ticks";
  EXPECT_EQ(clock.why_wrong(), "");
  EXPECT_FALSE(ignores_ends(parent.processes()));
}

TEST(FamilyClocks, WhatAnIgnoredEndLosesIsTold) {
  FamilyClock clock;
  Parent parent(false);
  read_until_worked(clock, parent);
  EXPECT_EQ(clock.why_wrong(), "");
  EXPECT_TRUE(ignores_ends(parent.processes()));
  parent.end_child();
  EXPECT_LT(read(clock, parent), kWork_s / 2);
  EXPECT_TRUE(clock.why_wrong().starts_with("at least 0.1")) << clock.why_wrong();
  EXPECT_TRUE(clock.why_wrong().ends_with("as no process waited for processes that ended"));
}

}  // namespace
}  // namespace joust::race

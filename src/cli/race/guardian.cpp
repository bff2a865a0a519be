// SPDX-License-Identifier: MIT
#include "cli/race/guardian.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/check.hpp"
#include "base/system/process.hpp"
#include "cli/common/output.hpp"
#include "race/trial/process_family.hpp"
#include "race/trial/temporary_folder.hpp"

namespace joust {
namespace {

constexpr int kSignalsPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kSignalsPassedOn) sigaddset(&set, number);
  for (const int number : {SIGCHLD, SIGTSTP}) sigaddset(&set, number);
  return set;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  checked(::sigaction(number, &action, nullptr), "sigaction({})", number);
}

// Makes two requests to end: the second one ends at once.
void on_quit(int /*number*/) {
  ::kill(::getpid(), SIGINT);
  ::kill(::getpid(), SIGTERM);
}

void become_race(pid_t guardian) {
  ::setpgid(0, 0);
  handle(SIGQUIT, on_quit);
  end_with_parent(SIGQUIT);
  if (::getppid() != guardian) std::_Exit(kKilled + SIGKILL);  // the guardian was killed before
  handle(SIGTTOU, SIG_IGN);                                    // progress is shown from the background
}

void pass_on(int number, pid_t race) {
  if (number == SIGTSTP) {
    ::kill(race, SIGSTOP);
    ::kill(::getpid(), SIGSTOP);
    ::kill(race, SIGCONT);
  } else if (number != SIGCHLD) {
    ::kill(race, number);
  }
}

// Returns the status of the race without waiting for it (WNOWAIT): its process id stays its own.
siginfo_t await_end(pid_t race, const sigset_t& signals) {
  for (;;) {
    siginfo_t end{};
    if (::waitid(P_PID, static_cast<id_t>(race), &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        end.si_pid == race)
      return end;
    int number = 0;
    if (::sigwait(&signals, &number) == 0) pass_on(number, race);
  }
}

}  // namespace

std::optional<int> guard() {
  handle(SIGCHLD, SIG_DFL);  // ignored, it would take the status of children
  print_out("");             // otherwise both processes would write the buffered output
  const sigset_t signals = awaited_signals();
  sigset_t before;
  checked_number(::pthread_sigmask(SIG_BLOCK, &signals, &before), "pthread_sigmask(SIG_BLOCK)");
  const pid_t guardian = ::getpid();
  const pid_t race = checked(::fork(), "fork()");
  if (race == 0) {
    become_race(guardian);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return std::nullopt;
  }
  ::setpgid(race, race);
  siginfo_t end{};
  {
    const race::ProcessFamily family(race);  // kills the remaining processes at its end
    end = await_end(race, signals);
  }
  ::waitpid(race, nullptr, 0);
  if (end.si_code == CLD_EXITED) return end.si_status;
  race::remove_left_folders();
  return kKilled + end.si_status;
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#include "cli/common/signals.hpp"

#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <string_view>

#include "base/check.hpp"

namespace joust {
namespace {

std::atomic<Stop*> stop_to_request{nullptr};
std::atomic<void (*)(int)> report_to_make{nullptr};
std::atomic<bool> has_asked{false};
std::atomic<bool> second_ends{false};
std::atomic<int> last_signal{0};
constexpr unsigned kLongestEnd_s = 3;
constexpr int kKilledBy = 128;  // as the shell has it: 128 + the number of the signal
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<Stop*>::is_always_lock_free &&
              std::atomic<void (*)(int)>::is_always_lock_free);

void on_signal(int signal, siginfo_t* info, void* /*context*/) {
  const int error = errno;  // the interrupted code may be about to read it
  if (signal != SIGUSR1) {
    has_asked = true;
    if (Stop* const stop = stop_to_request) {
      if (second_ends && stop->requested() && last_signal.exchange(signal) == 0) ::alarm(kLongestEnd_s);
      stop->request();
    }
  } else if (const auto report = report_to_make.load()) {
    report(info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
  }
  errno = error;
}

void on_alarm(int /*signal*/) {
  constexpr std::string_view kWords =
      "joust: ended at once, because it has not come to an end 3 s after the second signal\n";
  static_cast<void>(::write(STDERR_FILENO, kWords.data(), kWords.size()) < 0);
  ::_exit(kKilledBy + last_signal);
}

}  // namespace

Signals::Signals(Stop& stop, void (*report)(int), Second second) {
  assert(stop_to_request == nullptr);
  stop_to_request = &stop;
  report_to_make = report;
  has_asked = false;
  second_ends = second == Second::ends;
  last_signal = 0;
  struct sigaction alarm {};
  alarm.sa_handler = on_alarm;
  checked(::sigaction(SIGALRM, &alarm, &before_alarm_), "sigaction(SIGALRM)");
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  for (const int signal : kWatched) sigaddset(&action.sa_mask, signal);
  for (std::size_t i = 0; i < kWatched.size(); ++i) {
    checked(::sigaction(kWatched[i], &action, &before_[i]), "sigaction({})", kWatched[i]);
    if (kWatched[i] == SIGHUP && before_[i].sa_handler == SIG_IGN)
      ::sigaction(kWatched[i], &before_[i], nullptr);
  }
}

// The process that conducts turns may send one SIGUSR1 more than the load takes. It is ignored then, so that
// it does not kill the process while the result is written.
Signals::~Signals() {
  ::alarm(0);
  ::sigaction(SIGALRM, &before_alarm_, nullptr);
  if (report_to_make != nullptr) before_.back().sa_handler = SIG_IGN;
  if (has_asked)
    for (struct sigaction& before : before_) before.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < kWatched.size(); ++i) ::sigaction(kWatched[i], &before_[i], nullptr);
  stop_to_request = nullptr;
  report_to_make = nullptr;
}

}  // namespace joust

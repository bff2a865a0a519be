// SPDX-License-Identifier: MIT
#include "cli/common/signals.hpp"

#include <atomic>
#include <cassert>
#include <cerrno>

#include "base/check.hpp"

namespace joust {
namespace {

std::atomic<Stop*> stop_to_request{nullptr};
std::atomic<void (*)()> report_to_make{nullptr};
static_assert(std::atomic<Stop*>::is_always_lock_free && std::atomic<void (*)()>::is_always_lock_free);

void on_signal(int signal) {
  const int error = errno;  // the interrupted code may be about to read it
  if (signal != SIGUSR1) {
    if (Stop* const stop = stop_to_request) stop->request();
  } else if (const auto report = report_to_make.load()) {
    report();
  }
  errno = error;
}

}  // namespace

Signals::Signals(Stop& stop, void (*report)()) {
  assert(stop_to_request == nullptr);
  stop_to_request = &stop;
  report_to_make = report;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : kWatched) ::sigaddset(&action.sa_mask, signal);
  for (std::size_t i = 0; i < kWatched.size(); ++i)
    checked(::sigaction(kWatched[i], &action, &before_[i]), "sigaction({})", kWatched[i]);
}

Signals::~Signals() {
  for (std::size_t i = 0; i < kWatched.size(); ++i) ::sigaction(kWatched[i], &before_[i], nullptr);
  stop_to_request = nullptr;
  report_to_make = nullptr;
}

}  // namespace joust

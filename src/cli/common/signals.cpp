// SPDX-License-Identifier: MIT
#include "cli/common/signals.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/check.hpp"
#include "base/fd.hpp"

namespace joust {
namespace {

sigset_t watched() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) ::sigaddset(&set, signal);
  return set;
}

}  // namespace

Signals::Signals(Stop& stop, std::function<void()> report) {
  const sigset_t set = watched();
  checked_number(::pthread_sigmask(SIG_BLOCK, &set, nullptr), "pthread_sigmask(SIG_BLOCK)");
  thread_ = std::thread([this, &stop, report = std::move(report)] { watch(stop, report); });
}

Signals::~Signals() {
  over_.request();
  thread_.join();
}

void Signals::watch(Stop& stop, const std::function<void()>& report) {
  const sigset_t set = watched();
  const Fd signals(checked(::signalfd(-1, &set, SFD_CLOEXEC), "signalfd()"));
  for (;;) {
    std::array<pollfd, 2> events{pollfd{over_.fd(), POLLIN, 0}, pollfd{signals.get(), POLLIN, 0}};
    retry_interrupted([&] { return ::poll(events.data(), events.size(), -1); });
    if (events[0].revents != 0) return;
    signalfd_siginfo signal{};
    if (::read(signals.get(), &signal, sizeof signal) != sizeof signal) continue;
    if (signal.ssi_signo != SIGUSR1)
      stop.request();
    else if (report)
      report();
  }
}

}  // namespace joust

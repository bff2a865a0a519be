// SPDX-License-Identifier: MIT
//
// Ends a test program whose case does not end, and names the case. Linked into each of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "sanitized.hpp"

namespace joust::test {
namespace {

constexpr int kMost_s = is_sanitized() ? 300 : 120;  // the longest case takes a tenth on an idle machine
constexpr int kHung = 124;          // the exit code, as of timeout(1)
constexpr int kSignal = SIGVTALRM;  // which no test uses

std::string words;  // what is reported if the case that runs now hangs

extern "C" void end_hung_case(int /*number*/) {
  (void)!::write(STDERR_FILENO, words.data(), words.size());
  ::_exit(kHung);
}

class Watchdog : public testing::EmptyTestEventListener {
 public:
  Watchdog() {
    struct sigaction action {};
    action.sa_handler = end_hung_case;
    ::sigaction(kSignal, &action, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = kSignal;
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) {
      std::perror("the watchdog's timer_create()");
      std::exit(EXIT_FAILURE);
    }
  }

  void OnTestStart(const testing::TestInfo& info) override {
    words = std::string(info.test_suite_name()) + "." + info.name() + " has not ended after " +
            std::to_string(kMost_s) + " s\n";
    set(kMost_s);
  }
  void OnTestEnd(const testing::TestInfo& /*info*/) override { set(0); }

 private:
  void set(int seconds) {
    itimerspec when{};
    when.it_value.tv_sec = seconds;
    ::timer_settime(timer_, 0, &when, nullptr);
  }

  timer_t timer_{};
};

// GoogleTest owns the listener.
const bool is_watched = (testing::UnitTest::GetInstance()->listeners().Append(new Watchdog), true);

}  // namespace
}  // namespace joust::test

// SPDX-License-Identifier: MIT
//
// frame-delay TIME INTERFACE INTERFACE...: joins network interfaces as a switch does, and passes each frame
// on TIME after it arrived. script/hosts --delay puts it in the place of a bridge where the kernel has no
// netem. Prints "ready" when it receives, and its figures at the end, which is at SIGTERM.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "delay/delaying_switch.hpp"

namespace joust {
namespace {

constexpr Duration kLongestDelay = std::chrono::seconds(10);
constexpr int kFirstAmongOthers = -20;

volatile std::sig_atomic_t stop = 0;

int usage(const std::string& why) {
  fmt::print(
      stderr,
      "frame-delay: {}\nUsage: frame-delay TIME INTERFACE INTERFACE...   TIME: up to {}, such as 5ms\n", why,
      format_duration(kLongestDelay));
  return 2;
}

// Waits end at their time, and not up to 50 us later, and before other programs of the machine.
void be_punctual() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  ::setpriority(PRIO_PROCESS, 0, kFirstAmongOthers);
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 3) return usage("a time and two interfaces are needed");
  const auto delay = parse_duration(words[0]);
  if (!delay) return usage(delay.error());
  if (*delay > kLongestDelay) return usage(fmt::format("{} is too long", words[0]));
  sigset_t terminates, before;
  ::sigemptyset(&terminates);
  ::sigaddset(&terminates, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &terminates, &before);
  struct sigaction action {};
  action.sa_handler = [](int) { stop = 1; };
  ::sigaction(SIGTERM, &action, nullptr);
  be_punctual();
  DelayingSwitch all(*delay, {words.begin() + 1, words.end()}, {});
  fmt::print("ready\n");
  std::fflush(stdout);
  all.run(stop, before);
  fmt::print(stderr, "frame-delay: {}\n", all.summary());
  return 0;
}

}  // namespace
}  // namespace joust

int main(int count, char** words) {
  try {
    return joust::run({words + 1, words + count});
  } catch (const std::exception& error) {
    fmt::print(stderr, "frame-delay: {}\n", error.what());
    return 1;
  }
}

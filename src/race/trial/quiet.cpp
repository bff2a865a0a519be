// SPDX-License-Identifier: MIT
#include "race/trial/quiet.hpp"

#include <thread>

#include "joust/time.hpp"

namespace joust::race {
namespace {

constexpr Duration kMostRestlessness = std::chrono::milliseconds(10);
constexpr Duration kLookAgain = std::chrono::microseconds(100);
constexpr double kQuiet_s = 5e-6;  // CPU time in kLookAgain

}  // namespace

double quiet_reading_s(ProcessClock& clock) {
  const Time deadline = Clock::now() + kMostRestlessness;
  double before_s = clock.read_s();
  while (Clock::now() < deadline) {
    std::this_thread::sleep_for(kLookAgain);
    const double now_s = clock.read_s();
    const bool is_quiet = now_s - before_s < kQuiet_s;
    before_s = now_s;
    if (is_quiet) break;
  }
  return before_s;
}

}  // namespace joust::race

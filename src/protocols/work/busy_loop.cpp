// SPDX-License-Identifier: MIT
#include "protocols/work/busy_loop.hpp"

#include <algorithm>
#include <cstdint>

namespace joust {
namespace {

// Runs the loop; one function for all callers, because a copy of it at another address may run at half the
// speed.
[[gnu::noinline]] void go_round(std::uint64_t rounds) {
  for (std::uint64_t i = 0; i < rounds; ++i) asm volatile("");
}

}  // namespace

double busy_loop_rounds_per_us() {
  constexpr int kTrials = 50;
  std::uint64_t rounds = 1'000'000;
  asm volatile("" : "+r"(rounds));  // not a constant, for which the compiler would copy the function
  std::chrono::duration<double, std::micro> shortest = std::chrono::hours(1);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Time begun = Clock::now();
    go_round(rounds);
    shortest = std::min<decltype(shortest)>(shortest, Clock::now() - begun);
  }
  return static_cast<double>(rounds) / shortest.count();
}

void BusyLoop::spend(Duration time) const {
  go_round(
      static_cast<std::uint64_t>(std::chrono::duration<double, std::micro>(time).count() * rounds_per_us_));
}

}  // namespace joust

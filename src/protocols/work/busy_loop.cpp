// SPDX-License-Identifier: MIT
#include "protocols/work/busy_loop.hpp"

#include <algorithm>
#include <cstdint>

namespace joust {
namespace {

// Each round is a multiplication that waits for the one before, so that a round takes as long as that
// instruction. An empty loop takes as long as its jump, and on processors that predict two in a cycle its
// speed depends on where the loop and all else of the program lie: two servers of one program, started one
// after the other, would differ by 5 %.
[[gnu::noinline]] void go_round(std::uint64_t rounds) {
  std::uint64_t value = rounds;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    value = value * 6364136223846793005U + 1;
    asm volatile("" : "+r"(value));  // computed in each round, whoever reads it
  }
}

}  // namespace

double busy_loop_rounds_per_us() {
  constexpr int kTrials = 50;
  std::uint64_t rounds = 100'000;
  asm volatile("" : "+r"(rounds));  // not a constant, for which the compiler might make a function of its own
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

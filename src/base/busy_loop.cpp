// SPDX-License-Identifier: MIT
#include "base/busy_loop.hpp"

#include <algorithm>
#include <cstdint>

namespace joust {
namespace {

// One function for all callers: a copy of the loop at another address may run at half the speed.
[[gnu::noinline]] void go_round(std::uint64_t rounds) {
  for (std::uint64_t i = 0; i < rounds; ++i) asm volatile("");
}

}  // namespace

BusyLoop::BusyLoop() {
  constexpr int kTrials = 50;
  std::uint64_t rounds = 1'000'000;
  asm volatile("" : "+r"(rounds));  // no constant, of which the compiler would make a copy of the function
  std::chrono::duration<double, std::nano> shortest = std::chrono::hours(1);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Time begun = Clock::now();
    go_round(rounds);
    shortest = std::min<decltype(shortest)>(shortest, Clock::now() - begun);
  }
  rounds_per_ns_ = static_cast<double>(rounds) / shortest.count();
}

void BusyLoop::spend(Duration time) const {
  go_round(static_cast<std::uint64_t>(static_cast<double>(time.count()) * rounds_per_ns_));
}

}  // namespace joust

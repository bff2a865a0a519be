// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <random>

namespace joust {

// The finalizer of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014):
// neighbouring arguments give unrelated results.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

// The increment of SplitMix64: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t kMixStep = 0x9e3779b97f4a7c15U;

// Returns a number from the system's source, which differs from run to run and from host to host.
inline std::uint64_t random_number() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

// The longest gap that 53 random bits give in a Poisson process, in mean gaps: -log(2^-53).
inline constexpr int kLongestPoissonGap = 37;

}  // namespace joust

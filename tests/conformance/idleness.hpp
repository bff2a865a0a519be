// SPDX-License-Identifier: MIT
#pragma once

#include "conformance/variants.hpp"

namespace joust::conformance {

// How much CPU time the other threads of the process use while the calling thread spins, as a share of what
// the calling thread gets: about 0 where they sleep, about 1 where one of them spins too. A busy machine
// slows both sides alike, so the answer does not depend on its speed or load.
double cpu_share_beside_a_spinner();

// Far more than threads that sleep use, and far less than one that spins.
inline constexpr double kIdle = 0.2;

// Whether the engine sleeps while it waits: it is not told to spin, nor does a thread of the kernel spin for
// it.
bool sleeps(const Variant& variant);

// A test of engines that sleep while they wait: variants that do not are left out.
class SleepingTest : public EngineTest {
 protected:
  void SetUp() override;
};

}  // namespace joust::conformance

// SPDX-License-Identifier: MIT
#pragma once

#include "conformance/variants.hpp"

namespace joust::conformance {

// The CPU time of the other threads of the process, and of its children, while the calling thread spins,
// divided by that of the calling thread: about 0 if they sleep, about 1 if one of them spins too. A busy
// machine slows both alike, so the result does not depend on its speed or load. The least of several windows
// counts, because an engine may have work left at first; one that never sleeps is busy in each.
double cpu_share_beside_a_spinner();

// Far above the share of sleeping threads, and far below that of a spinning one.
inline constexpr double kIdle = 0.2;

// True if the engine sleeps while it waits: neither it nor a kernel thread that works for it spins.
bool sleeps(const Variant& variant);

// Tests of sleeping engines.
class SleepingTest : public EngineTest {
 public:
  static bool applies(const Variant& variant) { return sleeps(variant); }
};

}  // namespace joust::conformance

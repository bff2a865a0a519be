// SPDX-License-Identifier: MIT
#include "conformance/idleness.hpp"

#include <ctime>

#include "joust/time.hpp"

namespace joust::conformance {
namespace {

constexpr Duration kSpinning = std::chrono::milliseconds(40);  // of CPU time

Duration cpu_time_by(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

double cpu_share_beside_a_spinner() {
  const Duration all_before = cpu_time_by(CLOCK_PROCESS_CPUTIME_ID);
  const Duration own_before = cpu_time_by(CLOCK_THREAD_CPUTIME_ID);
  Duration own{};
  while (own < kSpinning) own = cpu_time_by(CLOCK_THREAD_CPUTIME_ID) - own_before;
  const Duration all = cpu_time_by(CLOCK_PROCESS_CPUTIME_ID) - all_before;
  return static_cast<double>((all - own).count()) / static_cast<double>(own.count());
}

bool sleeps(const Variant& variant) {
  for (const Knob& knob : variant.engine->knobs)
    if (!knob.kernel_thread.empty() && variant.options.is(knob.name, knob.kernel_thread)) return false;
  return variant.options.wait != Wait::spin;
}

void SleepingTest::SetUp() {
  EngineTest::SetUp();
  if (!sleeps(GetParam())) GTEST_SKIP() << "it does not sleep while it waits";
}

}  // namespace joust::conformance

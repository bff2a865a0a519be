// SPDX-License-Identifier: MIT
#include "conformance/idleness.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "measure/processes.hpp"

namespace joust::conformance {
namespace {

constexpr double kSpinning_s = 0.04;  // of CPU time
constexpr int kWindows = 5;

double cpu_time_s(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

double share_of_one_window() {
  ProcessClock tree(
      process_tree(::getpid()));  // of nobody, where there are no descriptors to look for children
  const double tree_before_s = tree.read_s();
  const double process_before_s = cpu_time_s(CLOCK_PROCESS_CPUTIME_ID);
  const double own_before_s = cpu_time_s(CLOCK_THREAD_CPUTIME_ID);
  double own_s = 0;
  while (own_s < kSpinning_s) own_s = cpu_time_s(CLOCK_THREAD_CPUTIME_ID) - own_before_s;
  const double process_s = cpu_time_s(CLOCK_PROCESS_CPUTIME_ID) - process_before_s;
  return (std::max(process_s, tree.read_s() - tree_before_s) - own_s) / own_s;
}

}  // namespace

double cpu_share_beside_a_spinner() {
  double least = share_of_one_window();
  for (int i = 1; i < kWindows && least >= kIdle; ++i) least = std::min(least, share_of_one_window());
  return least;
}

bool sleeps(const Variant& variant) {
  for (const Knob& knob : variant.engine->knobs)
    if (!knob.kernel_thread.empty() && variant.options.is(knob.name, knob.kernel_thread)) return false;
  return variant.options.wait != Wait::spin;
}

}  // namespace joust::conformance

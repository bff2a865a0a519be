// SPDX-License-Identifier: MIT
#include "race/trial/process_setup.hpp"

namespace joust::race {

Duration most_time(const LimitPlan& limits, const LoadPlan& load) {
  using std::chrono::seconds;
  if (limits.trial_timeout) return *limits.trial_timeout;
  if (!load.messages)
    return limits.connect_timeout.value_or(seconds(30)) + load.warmup + load.duration +
           limits.request_timeout.value_or(seconds(5)) + seconds(10);
  return seconds(120) + limits.request_timeout.value_or(Duration{}) + load.warmup +
         pause_of(load) * static_cast<std::int64_t>(*load.messages);
}

}  // namespace joust::race

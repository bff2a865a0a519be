// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

namespace joust::race {

// A slice of a generation in which one contestant worked and the others were stopped.
struct Turn {
  std::uint64_t number = 0;                   // of its contestant in the generation, from 1
  std::uint64_t order = 0;                    // its place in its round of turns, from 1
  double start_s = 0;                         // its begin, from the begin of the race
  double window_s = 0;                        // from the last reply of the ramp to the last reply
  std::uint64_t verified = 0;                 // replies in that time
  std::uint64_t latency_sum_ns = 0;           // the sum of their latencies
  std::uint64_t failed = 0;                   // requests that failed in that time
  std::uint64_t messages = 0;                 // messages of the whole turn
  double turn_s = 0;                          // from its begin until the last reply was verified
  double server_cpu_s = 0, client_cpu_s = 0;  // CPU time in the whole turn
  std::optional<double> steal_s{};            // of the pinned CPUs in that time; empty if not pinned

  std::optional<double> throughput_per_s() const;
  std::optional<double> server_cpu_us_per_message() const;  // empty in process
};

}  // namespace joust::race

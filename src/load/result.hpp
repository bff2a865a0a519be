// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "joust/load_plan.hpp"
#include "load/run.hpp"
#include "measure/histogram.hpp"
#include "measure/usage.hpp"

namespace joust {

// What a load came to.
struct LoadResult {
  // The timed window as it was.
  struct Window {
    Time from, to;
  };

  LoadPlan plan;
  bool interrupted = false;
  std::uint64_t connections_ok = 0;
  std::uint64_t connections_failed = 0;
  Recorder::Counts messages;               // the timed window's
  std::uint64_t total_bytes_sent = 0;      // the whole run's, as the engine counted them
  std::uint64_t total_bytes_received = 0;  // likewise
  std::optional<Window> window;            // nothing when it never opened
  double duration_s = 0;                   // of the timed window; 0 when it never opened
  double throughput_per_s = 0;             // verified messages a second
  Histogram latency;
  std::vector<std::uint64_t> slices;  // messages verified in each tenth of the window
  Usage usage;                        // of this process, in the window
  double usage_s = 0;                 // between the looks at it, which follow the window's ends
  std::array<std::uint64_t, kStages> errors{};
  std::vector<std::string> complaints;
  std::vector<ResultGroup> groups;   // what the protocol has counted
  std::vector<std::string> notes;    // the engine's
  std::vector<std::string> missing;  // features of the kernel the engine had to do without

  // A load without a single reply has measured nothing, even where nothing failed.
  bool clean() const {
    return connections_failed == 0 && messages.failed == 0 && messages.verified > 0 && !interrupted;
  }
};

// After the engine has returned. `usage` is what the process used between the window's ends.
LoadResult conclude(const LoadRun& run, const Usage& usage, bool interrupted, Time ended);

}  // namespace joust

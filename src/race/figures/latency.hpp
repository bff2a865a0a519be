// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "race/model/result.hpp"

namespace joust::race {

// The latencies of one trial: its own figures, and its histogram where it has one.
struct LatencySample {
  const Latency& own;
  const LatencyCounts& counts;
};

// The latencies of all trials. Percentiles are those of all samples together, because a median of percentiles
// is not a percentile; where a trial has no histogram, medians of the trials' percentiles stand in.
Latency together(std::span<const LatencySample> trials);

}  // namespace joust::race

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/affinity.hpp"

// The floor of a machine: the least time that the parts of every message take here, whatever the engine.
namespace joust::doctor {

// The distribution of some samples.
struct Spread {
  double median = 0;
  double low = 0, high = 0;  // a tenth of the samples is below, and a tenth above
  std::size_t samples = 0;
};

struct FloorFigure {
  std::string_view key;                       // as in JSON
  std::string_view words;                     // for people
  std::string_view unit;                      // "ns" or "bytes_per_s"
  std::string_view what;                      // how it was measured
  std::expected<Spread, std::string> spread;  // or why it was not
};

// Measures for about 1.5 s in all, on threads of its own that are bound to one or two of these CPUs, on two
// cores where there are two. Needs up to 128 MiB of memory. A figure that cannot be measured has the reason.
std::vector<FloorFigure> measure_floor(std::span<const CpuPlace> cpus);

}  // namespace joust::doctor

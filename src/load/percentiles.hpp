// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A distribution in the document of a load: its figures under one key, and its buckets under another one. (In
// a header of its own, because the schema of the documents is made from it too.)
namespace joust {

struct Percentiles {
  double mean = 0;
  std::uint64_t min = 0;
  std::optional<std::uint64_t> p50{}, p75{}, p90{}, p95{}, p99{}, p999{}, p9999{};
  std::uint64_t max = 0, samples = 0;
};

// The value that percentile() reports, and the count.
using Buckets = std::vector<std::vector<std::uint64_t>>;

// Returns the key of the buckets of "latency_ns" or "send_lateness_ns": "histogram_ns",
// "send_lateness_histogram_ns".
std::string buckets_key(std::string_view figures_key);

}  // namespace joust

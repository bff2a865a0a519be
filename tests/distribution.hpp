// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "measure/histogram.hpp"

namespace joust::test {

// Returns the distribution of values, each with the number of times that a histogram has recorded it.
inline Distribution distribution_of(
    std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> values_and_times) {
  Histogram histogram;
  for (const auto& [value_ns, times] : values_and_times) histogram.record(value_ns, times);
  return histogram.distribution();
}

}  // namespace joust::test

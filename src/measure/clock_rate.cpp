// SPDX-License-Identifier: MIT
#include "measure/clock_rate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "measure/proc_file.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostBytesRead = 16;

}  // namespace

ClockRates operator|(const ClockRates& one, const ClockRates& other) {
  return {.least_mhz = std::min(one.least_mhz, other.least_mhz),
          .most_mhz = std::max(one.most_mhz, other.most_mhz)};
}

std::optional<ClockRates> read_clock_rates(std::span<const int> cpus, const std::string& root) {
  std::optional<ClockRates> rates;
  for (const int cpu : cpus.first(std::min(cpus.size(), kMostBytesRead))) {
    const auto text =
        read_proc_file(fmt::format("{}sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", root, cpu));
    const double mhz = text ? static_cast<double>(leading_number(*text)) / 1e3 : 0;
    if (mhz <= 0) continue;
    const ClockRates one{.least_mhz = mhz, .most_mhz = mhz};
    rates = rates ? *rates | one : one;
  }
  return rates;
}

}  // namespace joust

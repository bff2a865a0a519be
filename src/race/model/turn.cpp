// SPDX-License-Identifier: MIT
#include "race/model/turn.hpp"

namespace joust::race {

std::optional<double> Turn::throughput_per_s() const {
  if (verified == 0 || window_s <= 0) return std::nullopt;
  return static_cast<double>(verified) / window_s;
}

std::optional<double> Turn::server_cpu_us_per_message() const {
  if (messages == 0 || server_cpu_s <= 0) return std::nullopt;
  return server_cpu_s * 1e6 / static_cast<double>(messages);
}

}  // namespace joust::race

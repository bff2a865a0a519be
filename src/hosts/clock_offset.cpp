// SPDX-License-Identifier: MIT
#include "hosts/clock_offset.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace joust {

// The host reads its clock at some time between both readings here: at half of it, give or take the half.
std::expected<ClockOffset, std::string> measure_clock(HostLink& host, int samples) {
  constexpr Duration kPatience = std::chrono::seconds(10);
  ClockOffset best{.error = Duration::max()};
  Duration slowest{};
  for (int sample = 0; sample < samples; ++sample) {
    const Time before = Clock::now();
    const auto reply = host.call({{"do", "clock"}}, kPatience);
    const Duration round_trip = Clock::now() - before, error = round_trip / 2;
    if (!reply) return std::unexpected(reply.error());
    if (!reply->contains("now_ns")) return std::unexpected("its clock cannot be read: " + reply->dump());
    slowest = std::max(slowest, round_trip);
    if (error >= best.error) continue;
    const Time there{Duration(reply->at("now_ns").get<Duration::rep>())};
    best = {.offset = there - (before + error), .error = error};
  }
  best.slowest_round_trip = slowest;
  return best;
}

}  // namespace joust

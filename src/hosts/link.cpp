// SPDX-License-Identifier: MIT
#include "hosts/link.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "hosts/agent.hpp"

namespace joust {

namespace {

std::optional<Time> clock_in(const nlohmann::json& reply) {
  const auto found = reply.find("now_ns");
  if (found == reply.end() || !found->is_number_integer()) return std::nullopt;
  const auto now_ns = found->get<std::int64_t>();  // below 0 for an unsigned one beyond the range
  if (now_ns < 0 || now_ns > kLongestUptime_ns) return std::nullopt;
  return Time(Duration(now_ns));
}

}  // namespace

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
    const auto there = clock_in(*reply);
    if (!there) return std::unexpected(std::string("its clock: ") + hosts::kNotUnderstood);
    slowest = std::max(slowest, round_trip);
    if (error >= best.error) continue;
    best = {.offset = *there - (before + error), .error = error};
  }
  best.slowest_round_trip = slowest;
  return best;
}

}  // namespace joust

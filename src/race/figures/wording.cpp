// SPDX-License-Identifier: MIT
#include "race/figures/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"

namespace joust::race {

std::string ratio_words(double ratio, int decimals) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return "not known";
  const int before_point = static_cast<int>(std::floor(std::log10(ratio)));  // -3: 0.001 to 0.01
  if (before_point < 0) return fmt::format("{:.{}f}", ratio, std::max(decimals, 1 - before_point));
  return fmt::format("{:.{}f}", ratio, std::max(0, decimals - before_point));
}

std::string interval_words(const stats::Interval& interval, int decimals) {
  constexpr double kFactor = 10;
  if (!interval.is_known() || (interval.low < 1 / kFactor && interval.high > kFactor)) return "not known";
  return fmt::format("{} to {}", ratio_words(interval.low, decimals), ratio_words(interval.high, decimals));
}

std::string ratio_with_interval(const stats::Ratio& ratio, int decimals, std::string_view of) {
  return fmt::format("{}{} ({})", ratio_words(ratio.estimate, decimals), of,
                     interval_words(ratio.interval, decimals));
}

std::string percent(double fraction, int decimals) {
  return fmt::format("{:.{}f} %", fraction * 100, decimals);
}

std::string spread_text(double fraction, int decimals) {
  return fraction > 1 ? "more than 100 %" : percent(fraction, decimals);
}

std::string in_list(const std::string& name) {
  return name.find(',') == std::string::npos ? name : fmt::format("'{}'", name);
}

namespace {

std::string places_of(std::span<const HostOfRace> hosts, const std::string& side) {
  std::vector<std::string> places;
  for (const HostOfRace& host : hosts)
    if (host.side == side)
      places.push_back(fmt::format("{} ({}, {})", host.name, host.address, host.network.name));
  return join(places);
}

}  // namespace

std::string network_sentence(std::span<const HostOfRace> hosts) {
  if (hosts.empty()) return "Loopback: no network was measured.";
  return fmt::format("Network: servers on {}, loads on {}.", places_of(hosts, "server"),
                     places_of(hosts, "load"));
}

std::string network_words(const HostOfRace& host) {
  const NetworkInterface& network = host.network;
  std::string words = network.name;
  if (!network.driver.empty()) words += fmt::format(" ({})", network.driver);
  words += fmt::format(", MTU {}", network.mtu_bytes);
  if (network.speed_mbit_per_s) words += fmt::format(", {} Mbit/s", *network.speed_mbit_per_s);
  if (!network.offloads.empty()) words += ", " + join(network.offloads, " ");
  if (host.round_trip_s)
    words += ", round trip " +
             format_duration(std::chrono::round<Duration>(std::chrono::duration<double>(*host.round_trip_s)));
  return words;
}

}  // namespace joust::race

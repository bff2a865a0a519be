// SPDX-License-Identifier: MIT
#include "race/figures/hosts_wording.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"

namespace joust::race {
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

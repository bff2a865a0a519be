// SPDX-License-Identifier: MIT
#include "report/race_hosts_json.hpp"

#include <nlohmann/json.hpp>

#include "report/facts_json.hpp"
#include "report/race_trial_json.hpp"

namespace joust::report {
namespace {

using nlohmann::ordered_json;

ordered_json network_json(const NetworkInterface& network) {
  return {{"interface", network.name},
          {"driver", network.driver},
          {"mtu_bytes", network.mtu_bytes},
          {"speed_mbit_per_s", or_null(network.speed_mbit_per_s)},
          {"offloads", network.offloads}};
}

ordered_json begins_json(const std::optional<race::Begins>& begins) {
  if (!begins) return nullptr;
  return {{"turns", begins->turns},
          {"late", begins->late},
          {"latest_s", std::chrono::duration<double>(begins->latest).count()}};
}

}  // namespace

ordered_json hosts_json(std::span<const race::HostOfRace> hosts) {
  ordered_json json = ordered_json::array();
  for (const race::HostOfRace& host : hosts)
    json.push_back({{"name", host.name},
                    {"machine", host.machine},
                    {"boot_id", host.boot_id},
                    {"side", host.side},
                    {"cpus", host.cpus},
                    {"address", host.address},
                    {"network", network_json(host.network)},
                    {"round_trip_s", or_null(host.round_trip_s)},
                    {"clock_offset_s", or_null(host.clock_offset_s)},
                    {"clock_error_s", or_null(host.clock_error_s)},
                    {"begins", begins_json(host.begins)},
                    {"environment", to_json(host.environment)}});
  return json;
}

}  // namespace joust::report

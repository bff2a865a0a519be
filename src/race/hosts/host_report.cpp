// SPDX-License-Identifier: MIT
#include "race/hosts/host_report.hpp"

#include "measure/affinity.hpp"
#include "measure/environment.hpp"
#include "measure/proc_file.hpp"
#include "race/hosts/side_json.hpp"

namespace joust::race {
namespace {

constexpr Duration kForReport = std::chrono::seconds(20);  // the program's own file is read

std::expected<std::string, std::string> address_of(const NetworkPlace& place) {
  if (!place.fabric.empty()) return address_in(place.fabric);
  if (place.towards.empty()) return place.address.empty() ? "127.0.0.1" : place.address;
  std::string address = address_towards(place.towards);
  if (address.empty()) return std::unexpected("this host has no route to " + place.towards);
  return address;
}

}  // namespace

std::expected<HostReport, std::string> report_of_this_host(const NetworkPlace& place) {
  const auto address = address_of(place);
  if (!address) return std::unexpected(address.error());
  const auto network = interface_with(*address);
  if (!network) return std::unexpected("no interface of this host has the address " + *address);
  return HostReport{
      .machine = host_name(),
      .boot_id = std::string(trimmed(read_proc_file("/proc/sys/kernel/random/boot_id").value_or(""))),
      .address = *address,
      .network = *network,
      .round_trip = place.towards.empty() ? std::nullopt : round_trip_to(place.towards),
      .environment = read_environment(),
      .cpus = read_topology(allowed_cpus())};
}

std::expected<HostReport, std::string> ask_for_report(HostLink& host, const NetworkPlace& place) {
  auto report = step_of<HostReport>(host.name(), host.call({{"do", "host"}, {"place", place}}, kForReport));
  if (!report) return std::unexpected(std::move(report.error().what));
  return std::move(*report);
}

}  // namespace joust::race

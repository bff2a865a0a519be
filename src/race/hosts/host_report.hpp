// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "hosts/link.hpp"
#include "measure/topology.hpp"
#include "race/model/hosts.hpp"

namespace joust::race {

// The place of a host on the network to be measured. At most one member is set; none: loopback.
struct NetworkPlace {
  std::string fabric{};   // an interface or a subnet of the host
  std::string address{};  // an address of the host
  std::string towards{};  // an address that the host sends to
};

// The report of a host about itself.
struct HostReport {
  std::string machine{}, boot_id{}, address{};
  NetworkInterface network{};
  std::optional<Duration> round_trip{};  // to the address that it sends to
  Environment environment{};
  std::vector<CpuPlace> cpus{};  // that joust may use there
};

// Reads this host. The error says why it has no such address.
std::expected<HostReport, std::string> report_of_this_host(const NetworkPlace& place);

// Asks a host (the request "host"). The error names it.
std::expected<HostReport, std::string> ask_for_report(HostLink& host, const NetworkPlace& place);

}  // namespace joust::race

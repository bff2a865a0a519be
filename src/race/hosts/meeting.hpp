// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "hosts/link.hpp"
#include "measure/affinity.hpp"
#include "race/hosts/hosts_runner.hpp"
#include "race/model/result.hpp"
#include "race/model/scenario.hpp"

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

// Removes from the catalogue what cannot be raced over several hosts: contestants that have it are
// unavailable, with the reason. These are engines whose servers other machines must not reach, or that send
// to a group of one host, unix sockets, and connections that cannot rest while no message may travel.
void restrict_to_hosts(Catalogue& catalogue);

// Returns why a scenario cannot be raced over so many hosts that load; empty if it can.
std::string why_not_over_hosts(const Scenario& scenario, std::size_t load_hosts, bool server_loads);

// The hosts of a race before it begins: what they have reported, and where both sides will run.
struct Meeting {
  RaceHosts hosts{};
  std::vector<HostOfRace> facts{};            // of the server's host, then of those that load
  std::vector<std::vector<CpuPlace>> cpus{};  // that joust may use there, in the same order
};

// Asks all hosts. `place`: of the server's host on the network. Fails if a host does not answer, has no place
// on the network, or runs another build of joust; the error names it.
std::expected<Meeting, std::string> meet(HostLink& server, const std::vector<HostLink*>& loads,
                                         const NetworkPlace& place);

// Returns which CPUs of a plan a host does not have; empty if all have theirs.
std::optional<std::string> missing_cpus(const Meeting& meeting, const CpuPlan& plan);

// Gives clients their event loops and both sides their CPUs (placement.hpp): on each host by the CPUs that it
// has, and for both sides together where they have one kernel. Returns the plan of the server and the first
// load.
CpuPlan place_sides(Meeting& meeting, Scenario& scenario, const Catalogue& catalogue);

// Returns the hosts with the clocks that the runner has measured last, and how late turns began.
std::vector<HostOfRace> with_clocks(std::vector<HostOfRace> facts, const HostsRunner& runner);

}  // namespace joust::race

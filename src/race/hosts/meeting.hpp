// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "race/hosts/host_report.hpp"
#include "race/hosts/hosts_runner.hpp"

namespace joust::race {

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

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/scenario.hpp"

namespace joust::race {

// Removes from the catalogue what cannot be raced over several hosts: contestants that have it are
// unavailable, with the reason. These are engines whose servers other machines must not reach, or that send
// to a group of one host, unix sockets, and connections that cannot rest while no message may travel.
void restrict_to_hosts(Catalogue& catalogue);

// Returns why a scenario cannot be raced over so many hosts that load; empty if it can.
std::string why_not_over_hosts(const Scenario& scenario, std::size_t load_hosts, bool server_loads);

}  // namespace joust::race

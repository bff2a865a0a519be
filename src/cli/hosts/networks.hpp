// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/network_interface.hpp"

namespace joust {

// Returns the one subnet of this machine that has the addresses of all other hosts. `others`: of each host,
// in digits; empty for one whose address is not known. Nothing where it is not certain.
std::optional<std::string> common_subnet(std::span<const OwnNetwork> own,
                                         std::span<const std::string> others);

// Has Open MPI use the network of the hosts' names, by variables of this process's environment: it would try
// all networks of all hosts, also those of containers, which no other host reaches. Changes nothing where the
// user has chosen, or where the network is not certain. Looks names up.
void choose_network_of(const std::vector<std::string>& hosts);

// Returns a hint for hosts that do not meet: the networks that Open MPI uses on this one, and how to choose.
std::string hint_at_networks();

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "race/model/hosts.hpp"

namespace joust::report {

// Returns the hosts of a race as they are in its document.
nlohmann::ordered_json hosts_json(std::span<const race::HostOfRace> hosts);

}  // namespace joust::report

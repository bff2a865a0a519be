// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

#include "race/model/result.hpp"

namespace joust::race {

// Returns the throughput of the slowest contestant in each case of a pilot, by the case's name. A case in
// which nothing was measured has no entry.
std::map<std::string, Capacity> capacities_of(const RaceResult& pilot);

}  // namespace joust::race

// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace joust {

// Tries to reach each host as mpirun does, by ssh or the program that is set in its place. Returns a sentence
// about those where nothing can be started; empty if there is none. Takes 15 s at most.
std::string unreachable_of(const std::vector<std::string>& hosts);

}  // namespace joust

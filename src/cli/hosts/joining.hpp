// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "cli/common/command.hpp"

namespace joust {

// Finds out whether mpirun has started this process, for a command that works over several hosts. The process
// gets a relay then, and begins anew under it. Rank 0 goes on, to conduct: `program` has its rank, and
// nothing is returned. Every other rank serves the conductor here until the work is over; its exit code is
// returned.
std::optional<int> join_hosts(Program& program);

}  // namespace joust

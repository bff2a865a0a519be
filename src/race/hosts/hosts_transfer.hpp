// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "race/hosts/hosted_transfer.hpp"
#include "race/hosts/hosts_runner.hpp"

namespace joust::race {

// Runs one command that moves files from or to the host of its server, once. The time is that of the whole
// command on its own host. `number`: of the contestant, on both hosts.
Trial run_transfer(const RaceHosts& hosts, const TrialOrder& order, std::uint64_t number, ServerOrder serving,
                   TransferOrder moving, const Stop& stop);

}  // namespace joust::race

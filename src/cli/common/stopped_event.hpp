// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "cli/common/command.hpp"
#include "connection/tally.hpp"
#include "net/listeners.hpp"

namespace joust {

// Returns the last line of a server: the connections, bytes and errors of its run, its usage, and the figures
// of its protocol.
nlohmann::ordered_json stopped_event(const Tally& tally, const Listeners& listeners,
                                     const std::vector<ResultGroup>& groups);

// Reports for people how many connections failed, and why; nothing if none did.
void complain_of_failures(const Program& program, const Tally& tally);

}  // namespace joust

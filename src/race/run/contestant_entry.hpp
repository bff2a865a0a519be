// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "race/model/result.hpp"

namespace joust::race {

enum class Side : std::uint8_t { server, client };

// Returns why an engine cannot be that side of the protocol on this machine. Empty if it can.
std::string why_not(const EngineChoice& choice, Side side, const ProtocolRow* protocol,
                    const Catalogue& catalogue);

// Makes the entry of a contestant in a case, with the reason if it cannot run here.
Entry contestant_entry(const Contestant& contestant, const Case& one, const Scenario& scenario,
                       const Catalogue& catalogue);

}  // namespace joust::race

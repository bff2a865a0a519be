// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "engines/engine.hpp"
#include "joust/protocol.hpp"

namespace joust {

// Why that side cannot speak the protocol over the engine, for people: "unsupported: ...". Empty
// where they fit. Ask before anything starts: an engine opens sessions without looking at the protocol.
std::string_view mismatch(const Engine& engine, const Protocol& protocol, Role role);

}  // namespace joust

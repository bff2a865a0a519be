// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engines/engine.hpp"
#include "joust/protocol.hpp"

namespace joust {

// Returns why that side cannot use the protocol over the engine, for people: "unsupported: ...". Empty if
// they fit. Ask before the start: an engine opens sessions without looking at the protocol.
std::string mismatch(const Engine& engine, const Protocol& protocol, Role role);

// Returns why the two engines cannot communicate: their deliveries differ, or only one of them sends to a
// group.
std::string mismatch(const Engine& server, const Engine& client);

// Returns why messages of the engine are too small for this payload.
std::string payload_mismatch(const Engine& engine, const Protocol& protocol, std::size_t payload);

// Return why the options of a side cannot be met: by its own engine, and by the engine of the server that it
// loads.
std::string mismatch(const Engine& engine, const Demands& demands);
std::string_view server_mismatch(const Engine& server, const Demands& of_client);

// Returns why connections of the protocol cannot be dialled again.
std::string reconnect_mismatch(const Protocol& protocol);

// Returns why so many connections cannot all be served or dialled with so many threads: some would wait for
// others that do not end.
std::string mismatch(const Engine& engine, std::uint64_t threads, std::uint64_t connections);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "engines/engine.hpp"
#include "joust/load_plan.hpp"
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

// Returns why the engine of a side cannot meet the demands of its options.
std::string mismatch(const Engine& engine, const Demands& demands);

// Returns why the connections of the load cannot be inside TLS. Null: a side that is a command.
std::string tls_mismatch(const LoadPlan& plan, const Engine* server, const Engine* client);

// Returns why connections of the load cannot be dialled again, if the plan wants that. Null: a client that is
// not known.
std::string reconnect_mismatch(const LoadPlan& plan, const Engine* client, const Protocol& protocol);

// Returns why so many connections cannot all be served or dialled with so many threads: some would wait for
// others that do not end.
std::string mismatch(const Engine& engine, std::uint64_t threads, std::uint64_t connections);

}  // namespace joust

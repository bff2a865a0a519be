// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engines/engine.hpp"
#include "joust/protocol.hpp"

namespace joust {

// Why that side cannot speak the protocol over the engine, for people: "unsupported: ...". Empty
// where they fit. Ask before anything starts: an engine opens sessions without looking at the protocol.
std::string mismatch(const Engine& engine, const Protocol& protocol, Role role);

// Why both engines cannot speak to each other: they deliver in different ways.
std::string mismatch(const Engine& server, const Engine& client);

// Why messages of the engine are too small for this payload.
std::string payload_mismatch(const Engine& engine, const Protocol& protocol, std::size_t payload);

// The same for the options of a side: why its own engine cannot meet their demands, and why the engine of the
// server that it loads cannot.
std::string mismatch(const Engine& engine, const Demands& demands);
std::string_view server_mismatch(const Engine& server, const Demands& of_client);

// Why connections of the protocol cannot be dialled again, likewise.
std::string reconnect_mismatch(const Protocol& protocol);

// Why so many connections cannot all be served or dialled with so many threads: some would wait for others
// that do not end.
std::string mismatch(const Engine& engine, std::uint64_t threads, std::uint64_t connections);

}  // namespace joust

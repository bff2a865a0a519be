// SPDX-License-Identifier: MIT
#pragma once

#include "engines/engine.hpp"
#include "engines/zeromq/library.hpp"
#include "net/address.hpp"

// The sockets of the library, with options that are set on purpose.
namespace joust {

// Makes a context with as many I/O threads as the knob demands, and places for the sockets of the run.
ZmqContext context_for(const Hosting& hosting);

// Makes a server's socket, which takes over the listeners.
ZmqSocket router_for(const Hosting& hosting, const ZmqContext& context);

// Makes a client's socket, which begins to connect.
ZmqSocket dealer_for(const Hosting& hosting, const ZmqContext& context, const Endpoint& to);

// Makes an end of a way between the front and a worker. The owner of the name binds first.
enum class Way : std::uint8_t { messages, commands };
enum class End : std::uint8_t { owner, other };
ZmqSocket pair_for(const ZmqContext& context, std::size_t worker, Way way, End end);

// Returns how long a closed socket may send what it holds.
Duration linger_of(const Hosting& hosting);

// Sets the options that the library has none for. It does so on the client's socket from which the message
// has come, if the library reports it. Keeps the kernel's facts of the socket for the results.
void equip_source(const Hosting& hosting, ZmqPart& message);

// Notes in the results which options the library does not let a server's sockets have.
void note_options_left_out(const Hosting& hosting);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include "engines/engine.hpp"
#include "engines/zeromq/library.hpp"
#include "net/address.hpp"

// The sockets of the library, with options that are set on purpose.
namespace joust {

// With as many I/O threads as the knob says, and places for the sockets of the run.
ZmqContext context_for(const Hosting& hosting);

// A server's, which has taken over the listeners.
ZmqSocket router_for(const Hosting& hosting, const ZmqContext& context);

// A client's, which begins to connect.
ZmqSocket dealer_for(const Hosting& hosting, const ZmqContext& context, const Endpoint& to);

// The ends of a way between the front and a worker. The owner of the name binds first.
enum class Way : std::uint8_t { messages, commands };
enum class End : std::uint8_t { owner, other };
ZmqSocket pair_for(const ZmqContext& context, std::size_t worker, Way way, End end);

// How long a socket that is closed may send what it holds.
Duration linger_of(const Hosting& hosting);

// Sets the options that the library has none for on the client's socket from which the message has come, if
// it is there; and keeps for the results what the kernel says of the socket.
void equip_source(const Hosting& hosting, ZmqPart& message);

// Says in the results which of the options the library does not let a server's sockets have.
void note_options_left_out(const Hosting& hosting);

}  // namespace joust

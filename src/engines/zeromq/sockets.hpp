// SPDX-License-Identifier: MIT
#pragma once

#include "engines/engine.hpp"
#include "engines/zeromq/library.hpp"
#include "net/address.hpp"

// The sockets of the library, with options that are set on purpose.
namespace joust {

// Makes a context with as many I/O threads as the knob demands, and places for the sockets of the run.
ZmqContext context_for(const Hosting& hosting);

// Makes the ROUTER of one of a server's loops, which listens at the addresses of all listeners.
ZmqSocket router_for(const Hosting& hosting, const ZmqContext& context, std::size_t loop);

// Makes a client's socket, which begins to connect.
ZmqSocket dealer_for(const Hosting& hosting, const ZmqContext& context, const Endpoint& to);

// Sets the options that the library has none for. It does so on the client's socket from which the message
// has come, if the library reports it. Keeps the kernel's facts of the socket for the results.
void equip_source(const Hosting& hosting, ZmqPart& message);

// Notes in the results which options the library does not let a server's sockets have.
void note_options_left_out(const Hosting& hosting);

}  // namespace joust

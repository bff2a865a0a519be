// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "joust/protocol.hpp"
#include "protocols/broadcast/wire.hpp"

namespace joust::broadcast {

// How frames travel in a stream: behind a length, or each as a binary message of WebSocket.
enum class Carriage : std::uint8_t { length, websocket };

// Returns the carriage of the option `framing`.
Carriage carriage_of(const Parameters& parameters);

// Returns the framing of the bytes that a peer of this role sends.
Framing framing_of(Carriage carriage, Role sender);

// Writes a frame as a server does: in WebSocket not masked.
void write(const Frame& frame, Carriage carriage, Writer& into);

// Returns the size with its boundary of the frame that begins here, as a server sends it.
std::size_t framed_size(Carriage carriage, Bytes begin);

}  // namespace joust::broadcast

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "joust/protocol.hpp"
#include "joust/service.hpp"
#include "protocols/broadcast/wire.hpp"
#include "session/handler_session.hpp"

namespace joust::broadcast {

// How frames travel in a stream: behind a length, or each as a binary message of WebSocket.
enum class StreamFraming : std::uint8_t { length, websocket };

// Returns the framing that the option `framing` names.
StreamFraming stream_framing_of(const Parameters& parameters);

// Returns the framing of the bytes that a peer of this role sends.
Framing framing_of(StreamFraming framing, Role sender);

// Writes a frame as a server does: in WebSocket not masked.
void write(const Frame& frame, StreamFraming framing, Writer& into);

// Returns the size with its boundary of the frame that begins here, as a server sends it.
std::size_t framed_size(StreamFraming framing, Bytes begin);

std::vector<ProtocolOption> options();
// See Protocol::no_effect and Protocol::demands.
std::string no_effect(const std::string& option, Role side, const Parameters& client);
Demands demands_of(const Parameters& parameters);

// The parsed options of the server.
struct RoomRules {
  bool each_alone = false;        // each message is sent to each member in its own send
  std::uint64_t room_bytes = 0;   // bytes of the log kept for slow members
  std::uint64_t member_rate = 0;  // bytes per second that a member may publish; 0: see RoomLog
  RateRules rates{};
  StreamFraming framing = StreamFraming::length;
};
RoomRules room_rules(const Parameters& parameters);  // throws std::invalid_argument

// Make the two sides of the protocol. make_server() throws std::invalid_argument for invalid options.
std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);
// Throws std::invalid_argument for options of a client that do not fit.
void check_client(const Parameters& parameters);

}  // namespace joust::broadcast

// SPDX-License-Identifier: MIT
//
// broadcast: a room. A peer that joins is welcomed, and from then on gets every message of every member, its
// own included, in the same order as all members.
//
//     member --> join --> welcome          once
//     member --> message --> log --> all members, the sender included
//
// A frame is a length (4 bytes), a kind (1), the member's number (4), the number of the message among that
// member's (8), and for messages the payload; numbers are big endian. The server passes frames on unchanged.
// Each client measures the round trip of its own messages, and checks all others: each message of every
// member exactly once, in order, byte for byte. Over a message transport a frame is a message without the
// length; where delivery is lossy, clients count what is missing, repeated or out of order. With --framing
// websocket each frame is a binary message of WebSocket instead.
#include "protocols/broadcast/protocol.hpp"

#include "protocols/broadcast/options.hpp"
#include "protocols/broadcast/wire.hpp"

namespace joust {

Protocol broadcast_protocol() {
  Protocol protocol;
  protocol.name = "broadcast";
  protocol.summary = "a room: every member gets every message, its own included";
  protocol.takes_turns = true;  // when every message has reached every member
  protocol.no_reconnect =
      "a member that joins again has missed messages, and all wait for those it has not sent";
  protocol.largest_payload = broadcast::kLargestPayload;
  protocol.head_bytes = broadcast::kHeadBytes;
  protocol.options = broadcast::options();
  protocol.no_effect = broadcast::no_effect;
  protocol.demands = [](const Parameters& parameters, const LoadPlan*) {
    return broadcast::demands_of(parameters);
  };
  protocol.make_server = broadcast::make_server;
  protocol.make_client = broadcast::make_client;
  protocol.check_client = [](const Parameters& parameters, const LoadPlan&) {
    broadcast::check_client(parameters);
  };
  return protocol;
}

}  // namespace joust

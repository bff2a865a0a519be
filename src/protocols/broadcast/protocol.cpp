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

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/units.hpp"
#include "protocols/broadcast/room_log.hpp"
#include "protocols/websocket/client.hpp"
#include "protocols/websocket/message.hpp"
#include "session/option_values.hpp"

namespace joust::broadcast {

StreamFraming stream_framing_of(const Parameters& parameters) {
  return parameters.option("framing") == "websocket" ? StreamFraming::websocket : StreamFraming::length;
}

Framing framing_of(StreamFraming framing, Role sender) {
  if (framing == StreamFraming::length) return kFraming;
  return Own{[sender] { return std::make_unique<websocket::MessageCutter>(sender); }};
}

void write(const Frame& frame, StreamFraming framing, Writer& into) {
  if (framing == StreamFraming::length) return write(frame, into);
  const websocket::FrameHead head{.opcode = websocket::Opcode::binary,
                                  .payload = kHeadBytes + frame.payload.size()};
  std::byte* to = write_head(head, into.extend(head_size(head) + head.payload).data());
  to = std::ranges::copy(head_of(frame), to).out;
  std::ranges::copy(frame.payload, to);
}

std::size_t framed_size(StreamFraming framing, Bytes begin) {
  if (framing == StreamFraming::length) return kLengthBytes + read_big_endian<std::uint32_t>(begin.data());
  return websocket::frame_size(begin);
}

namespace {

std::uint64_t room_bytes(const Parameters& parameters) {
  const std::uint64_t bytes = bytes_of(parameters, "room-bytes");
  if (bytes >= RoomLog::kLargest) return bytes;
  refuse_option("room-bytes", fmt::format("at least {}", RoomLog::kLargest));
}

}  // namespace

std::vector<ProtocolOption> options() {
  std::vector<ProtocolOption> all{
      {.name = "framing",
       .summary = "frames are behind a length, or each is a binary message of WebSocket (websocket)",
       .standard = "length",
       .choices = {"length", "websocket"}},
      {.name = "flush",
       .summary = "send all that is waiting in one go (batch), or every message to every member alone (each)",
       .standard = "batch",
       .choices = {"batch", "each"},
       .loads = false},
      {.name = "room-bytes",
       .summary = "kept for slow members; who falls further behind is disconnected",
       .standard = "64MiB",
       .loads = false},
      {.name = "member-rate",
       .summary = "bytes per second that a member may publish; 0: as many as slow members keep up with",
       .standard = "0",
       .loads = false},
      {.name = "min-rate",
       .summary = "bytes per second: a member that sends a frame or reads slower is disconnected; 0: none is",
       .standard = "1KiB",
       .loads = false}};
  std::ranges::move(websocket::handshake_options(), std::back_inserter(all));
  return all;
}

std::string no_effect(const std::string& option, Role /*side*/, const Parameters& client) {
  const bool of_handshakes = option == "path" || option == "host";
  if (!of_handshakes || client.option("framing") == "websocket") return {};
  return "only --framing websocket has a handshake";
}

Demands demands_of(const Parameters& parameters) {
  if (parameters.option("framing") != "websocket") return {};
  return {.stream = "WebSocket is a protocol of a stream (--framing websocket)"};
}

RoomRules room_rules(const Parameters& parameters) {
  return {.each_alone = parameters.option("flush") == "each",
          .room_bytes = room_bytes(parameters),
          .member_rate = bytes_of(parameters, "member-rate"),
          .rates = RateRules::of(bytes_of(parameters, "min-rate")),
          .framing = stream_framing_of(parameters)};
}

}  // namespace joust::broadcast

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

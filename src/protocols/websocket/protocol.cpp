// SPDX-License-Identifier: MIT
//
// websocket: echo over WebSocket, RFC 6455 (docs/websocket-protocol.md).
//
//     GET, Upgrade: websocket --> 101         a message, masked --> the same message, not masked
//
// The frames are coded here and not by a library: the two that were looked at bring their own streams, or
// copy each message several times (docs/decisions/load.md).
#include "protocols/websocket/protocol.hpp"

#include <fmt/format.h>

#include "base/units.hpp"
#include "protocols/websocket/handshake.hpp"
#include "session/option_values.hpp"

namespace joust::websocket {
namespace {

constexpr std::size_t kMostFragments = 10'000;  // of a message

std::size_t fragment_of(const Parameters& parameters) {
  const std::uint64_t bytes = bytes_of(parameters, "fragment");
  if (bytes == 0 || bytes >= parameters.payload) return kLargestMessage;
  if (parameters.payload > bytes * kMostFragments)
    refuse_option("fragment",
                  fmt::format("a message of {} bytes has more than {} fragments of {} bytes; say at least {}",
                              parameters.payload, kMostFragments, bytes,
                              (parameters.payload + kMostFragments - 1) / kMostFragments));
  return bytes;
}

}  // namespace

std::vector<ProtocolOption> options() {
  std::vector<ProtocolOption> all = handshake_options();
  all.push_back({.name = "frame",
                 .summary = "a load's messages are binary, or text: printable ASCII",
                 .standard = "binary",
                 .choices = {"binary", "text"},
                 .serves = false});
  all.push_back(
      {.name = "fragment",
       .summary = "bytes of a message in each frame, the last one has the rest; 0: a message is one frame",
       .standard = "0",
       .serves = false});
  return all;
}

ClientOptions client_options(const Parameters& parameters) {
  return {.target = handshake_target(parameters),
          .opcode = parameters.option("frame") == "text" ? Opcode::text : Opcode::binary,
          .fragment = fragment_of(parameters)};
}

}  // namespace joust::websocket

namespace joust {

Protocol websocket_protocol() {
  Protocol protocol;
  protocol.name = "websocket";
  protocol.summary = "the server sends back every WebSocket message as it came";
  protocol.url_scheme = "ws";
  protocol.no_messages = "WebSocket is a protocol of a stream";
  protocol.sessions_stand_alone = true;
  protocol.takes_turns = true;
  protocol.no_reconnect.clear();
  protocol.largest_payload = websocket::kLargestMessage;
  protocol.options = websocket::options();
  protocol.make_server = websocket::make_server;
  protocol.make_client = websocket::make_client;
  protocol.check_client = [](const Parameters& parameters, const LoadPlan&) {
    websocket::client_options(parameters);
  };
  return protocol;
}

}  // namespace joust

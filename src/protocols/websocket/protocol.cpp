// SPDX-License-Identifier: MIT
//
// websocket: echo over WebSocket, RFC 6455 (docs/websocket-protocol.md).
//
//     GET, Upgrade: websocket --> 101         a message, masked --> the same message, not masked
//
// The frames are coded here and not by a library: the two that were looked at bring their own streams, or
// copy each message several times (docs/decisions/load.md).
#include "protocols/websocket/protocol.hpp"

#include "protocols/websocket/handshake.hpp"
#include "protocols/websocket/options.hpp"

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
    websocket::manner(parameters);
  };
  return protocol;
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "joust/handler.hpp"
#include "protocols/websocket/message.hpp"

namespace joust::websocket {

// The duties of a server beside its messages, for one connection: shakes hands, answers pings and closes, and
// refuses what breaks the protocol. It takes any path.
class ServerSide {
 public:
  enum class Step : std::uint8_t {
    message,   // text or binary, which is left to the caller
    answered,  // nothing is left to be done
    ended,     // the last words are written, and the connection ends
  };
  // `bytes`: what a MessageCutter has handed on, and `message` a view of it.
  Step take(const Message& message, Bytes bytes, Writer& replies);

  // Write the last words: the close code of a rule that the client breaks, or its status of HTTP; and that
  // the server stops. A connection whose handshake is not complete gets no close.
  void refuse(const Violation& violation, Writer& replies);
  void go_away(Writer& replies);

  // Returns why the client was refused, in words; empty if it was not.
  std::string_view complaint() const { return complaint_; }

 private:
  Step shake_hands(Bytes head, Writer& replies);
  Step end(const Message& close, Bytes bytes, Writer& replies);
  Step refused(const Violation& violation, Writer& replies);

  bool is_open_ = false;  // the handshake is complete
  std::string complaint_;
};

}  // namespace joust::websocket

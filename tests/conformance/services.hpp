// SPDX-License-Identifier: MIT
#pragma once

#include "session/handler_session.hpp"

namespace joust::conformance {

// Sends every message back.
class EchoService : public HandlerService {
 public:
  explicit EchoService(Framing framing = Raw{});
};

// Sends one message back and ends the connection.
class OneAnswerService : public HandlerService {
 public:
  explicit OneAnswerService(Framing framing);
};

}  // namespace joust::conformance

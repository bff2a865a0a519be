// SPDX-License-Identifier: MIT
#include "hosting/mismatch.hpp"

namespace joust {

std::string_view mismatch(const Engine& engine, const Protocol& protocol, Role role) {
  const bool stream = engine.delivery == Delivery::Kind::stream;
  if (stream && !protocol.over_stream)
    return "unsupported: the engine carries a stream, and the protocol needs whole messages";
  if (!stream && !protocol.over_message)
    return "unsupported: the engine carries messages, and the protocol needs a stream";
  if (role == Role::serve && engine.separate_processes && !protocol.sessions_stand_alone)
    return "unsupported: sessions live in different processes";
  return {};
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "engines/loop/loop_core.hpp"
#include "engines/loop/ready_io.hpp"
#include "engines/two_processes/reader.hpp"

namespace joust {

// A peer of the writing process.
struct RingPeer : LoopPeer {
  using LoopPeer::LoopPeer;
  std::unique_ptr<Reader> reader;  // none while connecting
  bool writable = true;            // no send has found the socket full
  bool has_hung_up = false;
  bool connecting = false;  // connect() goes on; its end shows at the socket

  bool has_news() const { return connection && reader->has_news() && connection->wants_input(); }
  bool may_sleep() { return !live() || !connection->wants_input() || reader->may_sleep(); }
  // Returns true if wanted input has arrived, or is on its way through the reader.
  bool awaits_input() const {
    return live() && connection->wants_input() && (reader->has_news() || unread_bytes(socket.get()) > 0);
  }
};

}  // namespace joust

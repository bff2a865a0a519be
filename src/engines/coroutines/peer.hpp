// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "engines/coroutines/task.hpp"
#include "engines/coroutines/waiter.hpp"
#include "engines/loop/ready_exchange.hpp"
#include "net/listener.hpp"

namespace joust {

// A connection, its coroutines, and the places where these wait. The tasks are the last members, so that they
// are destroyed first: their frames refer to the other members.
struct CoroutinePeer : ReadyPeer {
  using ReadyPeer::ReadyPeer;

  bool may_read() const {
    return readable && connection->wants_input() && connection->bytes_received() < read_until;
  }
  // The end of the stream needs no room in the socket.
  bool may_write() const {
    return sends_left > 0 && ((writable && connection->has_output()) || connection->wants_shutdown());
  }

  std::uint64_t read_until = 0;  // the count of received bytes at which the quota of this turn is used up
  unsigned sends_left = 0;       // sends left in the quota of this turn
  Waiter connected, input, output, alarm;
  Task<> dialler, receiver, sender, keeper;
};

// A listener, and the coroutine that accepts from it.
struct Acceptor {
  explicit Acceptor(const Listener& from) : listener(from) {}

  const Listener& listener;
  Waiter newcomer;
  Task<> task;
};

}  // namespace joust

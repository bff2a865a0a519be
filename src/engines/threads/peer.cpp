// SPDX-License-Identifier: MIT
#include "engines/threads/peer.hpp"

#include <poll.h>

#include <exception>

#include "engines/loop/ready_io.hpp"

namespace joust {
void ThreadsPeer::flush(Time now) {
  send_a_turn(socket.get(), *connection, now);
}

short ThreadsPeer::interest() const {
  const int events = (connection->wants_input() ? POLLIN : 0) | (connection->has_output() ? POLLOUT : 0);
  return static_cast<short>(events);
}

bool ThreadsPeer::pass_publications(Time now) noexcept {
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) return false;
  if (!connection) return true;  // not open yet, and the owner will catch up; or over
  try {
    return speak(now);
  } catch (const std::exception& error) {
    peer_threads().break_off(*this, failure_of(error));
    return false;
  }
}

// Sends what has been published. Returns false if the owner has to act.
bool ThreadsPeer::speak(Time now) {
  catch_up(now);
  if (connection->source()) return false;  // sendfile() may block: left to the owner
  // If the socket is full, the owner already waits for room and will send.
  if ((waits_for & POLLOUT) == 0) flush(now);
  const auto due = connection->deadline();
  return !connection->ended() && (interest() & ~waits_for) == 0 && (!due || *due >= back_by);
}

}  // namespace joust

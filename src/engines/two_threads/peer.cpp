// SPDX-License-Identifier: MIT
#include "engines/two_threads/peer.hpp"

#include <sys/socket.h>

namespace joust {

bool Duplex::pass_publications(Time /*now*/) noexcept {
  wake_writer.set();
  return true;
}

void Duplex::rouse() {
  wake_reader.set();
  interrupt(0);  // the writer may be connecting
  interrupt(1);
}

// Called when one thread has seen that the connection is over. shutdown() ends the other thread's recv or
// send.
void Duplex::release_others() noexcept {
  if (socket.is_open()) ::shutdown(socket.get(), SHUT_RDWR);
  wake_reader.set();
  wake_writer.set();
}

}  // namespace joust

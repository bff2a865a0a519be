// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>

namespace joust {

// A descriptor that a poller watches: a peer's socket, or a door by which something else comes in.
struct Watched {
  enum class Kind : std::uint8_t { peer, shared, listener, inbox, stop };  // shared: a socket of many peers
  static constexpr unsigned kUnwatched = ~0U;

  Kind kind = Kind::peer;
  unsigned armed = kUnwatched;  // for the poller: the events watched
  std::size_t place = 0;        // for the poller
};

// The doors of a loop that every one has.
struct Doors {
  Watched stop{Watched::Kind::stop}, inbox{Watched::Kind::inbox};
};

// Events beside POLLIN and POLLOUT; 0 is none.
inline constexpr unsigned kReset = 1U << 16;  // nothing is wanted, and a reset is to be noticed
inline constexpr unsigned kOnce = 1U << 17;   // one report, and then none until it is watched again

// The manner in which a readiness interface reports.
struct Reports {
  bool changes = false;  // a change once (edge-triggered): input is watched all the time
  bool resets = true;    // the reset of a peer from which nothing is wanted
};

// A poller is the page of one readiness interface of the kernel, or of a library. A loop has one, in one
// thread (with kOnce: watch() from any thread, for one peer by one at a time), and asks it for four things:
//
//   Reports reports() const;
//   void watch(int fd, Watched& what, unsigned events);   from now on; throws std::system_error
//   void forget(int fd, Watched& what);                   the descriptor is about to be closed
//   void wait(Loop& loop, Duration most);                 one wait. Passes its result to loop.woken(), and
//   then
//                                                         each descriptor that is ready to loop.ready()

}  // namespace joust

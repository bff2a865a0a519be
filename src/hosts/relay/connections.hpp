// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "joust/time.hpp"

namespace joust::hosts {

// The TCP sockets of this process, which are MPI's. A relay waits for what comes to them, so that it makes no
// call of MPI while nothing comes, and it hears of the end of another rank, which mpirun reports to nobody.
class Connections {
 public:
  // Looks for all that are open, and acknowledges what has come: TCP would send that packet some time later.
  // Returns whether one of those before is gone: it has ended, and wait() has not told of it. Called after a
  // call of MPI.
  bool refresh();

  // Returns whether no connection has been made or has ended for some calls of refresh() and some time. Until
  // then MPI has to be called again and again: it takes several steps to make a connection, some of them by
  // its own clock, for which nothing comes to a socket.
  bool are_settled() const;

  // Waits until `other`, a descriptor or -1, is readable, or has room if it `is_full`, bytes have come to a
  // socket, MPI has been connected to another rank, or the time is over. Returns whether a connection has
  // been ended by its other side.
  bool wait(int other, bool is_full, Duration patience);

 private:
  // The number of a socket in the system, which no other socket gets, and whether it is connected.
  using State = std::pair<ino_t, bool>;

  std::vector<pollfd> sockets_{};
  std::set<State> states_{};
  Time changed_{}, refreshed_{};
  std::uint64_t unchanged_ = 0;  // calls of refresh() since `changed_`
};

}  // namespace joust::hosts

// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
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

  // Closes the sockets that listen, once no more connections are to come: MPI reads the greeting of each one
  // with a call that blocks for two seconds, so strangers could hold this process. Their numbers stay taken,
  // by sockets on which nothing comes, because MPI closes them at its end.
  void stop_listening();

  // Returns whether no connection has been made or has ended for some calls of refresh() and some time. Until
  // then MPI has to be called again and again: it takes several steps to make a connection, some of them by
  // its own clock, for which nothing comes to a socket.
  bool are_settled() const;

  // A descriptor that is no socket of MPI; -1: none.
  struct Other {
    int number = -1;
    bool is_full = false;  // it is also waited for until it has room
  };
  // Waits until one of the others is readable, or has room, bytes have come to a socket, MPI has been
  // connected to another rank, a signal has come, or the time is over. Returns whether a connection has been
  // ended by its other side.
  bool wait(std::initializer_list<Other> others, Duration patience);

 private:
  // The number of a socket in the system, which no other socket gets, and whether it is connected.
  using State = std::pair<ino_t, bool>;

  std::vector<pollfd> sockets_{};
  std::set<State> states_{};
  Time changed_{}, refreshed_{};
  bool has_stopped_listening_ = false;
  std::uint64_t unchanged_ = 0;  // calls of refresh() since `changed_`
};

}  // namespace joust::hosts

// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <vector>

#include "joust/time.hpp"

namespace joust::hosts {

// The TCP sockets of this process, which are MPI's. A relay waits for what comes to them, so that it makes no
// call of MPI while nothing comes, and it hears of the end of another rank, which mpirun reports to nobody.
class Connections {
 public:
  // Looks for all that are open, and acknowledges what has come: TCP would send that packet some time later.
  // Returns whether there are fewer than before: one has ended, and wait() has not told of it.
  bool refresh();

  // Waits until `other`, a descriptor or -1, is readable, or has room if it `is_full`, bytes have come to a
  // socket, or the time is over. Returns whether a connection has been ended by its other side.
  bool wait(int other, bool is_full, Duration patience);

 private:
  std::vector<pollfd> sockets_{};
};

}  // namespace joust::hosts

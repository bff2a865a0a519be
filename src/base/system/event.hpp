// SPDX-License-Identifier: MIT
#pragma once

#include "base/fd.hpp"

namespace joust {

// A descriptor that a thread or a signal handler makes readable, and its reader makes unreadable again. It is
// an eventfd or, where the system has none, a pipe. Shared with processes that are forked later.
class EventDescriptor {
 public:
  EventDescriptor();  // throws std::system_error

  int fd() const { return readable_.get(); }
  void raise() const;
  void clear() const;

 private:
  Fd readable_;
  Fd written_;  // the other end of a pipe
};

}  // namespace joust

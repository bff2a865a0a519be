// SPDX-License-Identifier: MIT
//
// poll: one thread passes all of its sockets to the kernel, which marks the ready ones.
//
//     ppoll --> for each ready socket:  recv --> session --> send
//       ^                                                     |
//       +---- deadlines <---- publications <---- the unfinished
//
// Good at: a few hundred connections, most of them busy. A change of a peer's interest is a write to the
// array and takes no system call. It works on every POSIX system, and for any descriptor number. Bad at:
// thousands of connections, few of them busy, because each wait copies the whole array and checks every
// socket. The array is dense: the last entry takes the place of one that leaves. A file's bytes may take a
// pipe or a ring buffer in place of recv (files/file_input.hpp). Left out on purpose: leaving busy peers out
// of the array for a turn, which saves little. recv and send are in loop/ready_io.cpp.
#include "engines/poll.hpp"

#include "engines/loop/polled.hpp"
#include "engines/loop/ready.hpp"

namespace joust {

// ppoll ignores entries with a negative descriptor. It always reports a hang-up.
void Poll::watch(int fd, Watched& what, unsigned events) {
  if (what.armed == Watched::kUnwatched) {
    // Both have room, or neither gets the socket: it is then no part of the next wait.
    if (whats_.size() == whats_.capacity()) whats_.reserve(2 * whats_.size() + 16);
    entries_.reserve(whats_.capacity());
    what.place = whats_.size();
    whats_.push_back(&what);
    entries_.emplace_back();
  }
  what.armed = events;
  entries_[what.place] = {
      .fd = events == 0 ? -1 : fd, .events = static_cast<short>(events & (POLLIN | POLLOUT)), .revents = 0};
}

void Poll::forget(int /*fd*/, Watched& what) {
  entries_[what.place] = entries_.back();
  whats_[what.place] = whats_.back();
  whats_[what.place]->place = what.place;
  entries_.pop_back();
  whats_.pop_back();
}

extern const Engine kPoll{
    .name = "poll",
    .summary = "one array of all sockets, shown to the kernel at every wait",
    .several_loops = true,
    .does_chores = true,
    .threads = "one per loop (-t)",
    .run = run_loops<Polled<ReadyLoop, Poll>>,
};

}  // namespace joust

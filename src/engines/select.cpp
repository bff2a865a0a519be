// SPDX-License-Identifier: MIT
//
// select: one thread passes sets of its sockets to the kernel, which leaves the ready ones in them.
//
//     copy the sets --> select --> for each ready socket:  recv --> session --> send
//          ^                                                                      |
//          +----- deadlines <----- publications <----- the unfinished <-----------+
//
// Good at: the same as poll, and it runs on every system that has sockets. A change of a peer's interest is a
// bit and takes no system call; 10,000 sockets are 1,250 bytes a set. Bad at: thousands of connections, few
// of them busy, because each wait checks every socket. Two things are said of select that need not be so:
//
//   - "It is limited to 1,024 descriptors." That is FD_SETSIZE, the size of the C library's type fd_set. The
//     kernel takes sets of any size, so this engine has its own (select.hpp).
//   - "A ready socket may block." It may, so the sockets are non-blocking.
//
// select has no event for an error or a hang-up: both make a socket readable, and an error makes it writable
// too. The third set of select (`except`) is for urgent data only. So the reset of a peer from which nothing
// is wanted takes two steps. Such a peer is watched for input; when it becomes readable, SO_ERROR tells a
// reset from unread bytes. Unread bytes would wake the loop at every wait. So the socket is then in no set,
// and SO_ERROR is asked every 100 ms. Left out on purpose: urgent data, which no protocol here uses. recv and
// send are in loop/ready_io.cpp.
#include "engines/select.hpp"

#include "engines/loop/polled.hpp"
#include "engines/loop/ready.hpp"

namespace joust {

extern const Engine kSelect{
    .name = "select",
    .summary = "sets of all sockets, shown to the kernel at every wait, of any size",
    .several_loops = true,
    .does_chores = true,
    .threads = "one per loop (-t)",
    .run = run_loops<Polled<ReadyLoop, Select>>,
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "joust/time.hpp"
#include "connection/stream_connection.hpp"

// The read step and the write step of engines that are told when a socket is ready. Each makes one system
// call on a non-blocking socket and reports to the connection what came of it.
namespace joust {

// recv() into `buffer`. False when the socket is drained: nothing was there, or less than would have fitted,
// so that another call could only answer EAGAIN. `end_is_near` says that the peer is known to have finished
// or broken off: a short read then does not count as drained, because the end itself is still to be read.
bool receive_ready(int socket, StreamConnection& connection, std::span<std::byte> buffer, bool end_is_near,
                   Time now);

// One send() of as much output as the socket takes, or sendfile() where a file comes first and says so. False
// when the socket is full: it took nothing. To have taken less than there was does not say so.
bool send_ready(int socket, StreamConnection& connection, Time now);

// shutdown(SHUT_WR): the peer reads the end of our stream; we may go on reading.
void end_stream(int socket, StreamConnection& connection, Time now);

// The outcome of a connect that was in progress: 0, or the errno it failed with.
int connect_result(int socket);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "connection/stream_connection.hpp"
#include "joust/time.hpp"

// The read and write steps of engines with a readiness interface. Each makes one system call on a
// non-blocking socket and reports the result to the connection.
namespace joust {

// Calls recv() into `buffer`. Returns false when the socket is drained: it was empty, or the read was short,
// so that another call could only return EAGAIN. With `end_is_near`, the peer's end or an error is known to
// follow: a short read then does not count as drained, because the end itself is still to be read.
bool receive_ready(int socket, StreamConnection& connection, std::span<std::byte> buffer, bool end_is_near,
                   Time now);

// Makes one send() of as much output as the socket takes, or sendfile() if a file comes first and allows it.
// Returns false when the socket is full, so that it took nothing. A short send does not show a full socket.
bool send_ready(int socket, StreamConnection& connection, Time now);

// The same as send_ready() without sendfile(), which blocks on a blocking socket.
bool send_copied(int socket, StreamConnection& connection, Time now);

// Sends the output of one turn, for a thread or process that serves one connection. It sends what the socket
// takes, but not without end, so that a fast reader does not keep the connection from being read. Ends the
// stream after the last byte.
void send_a_turn(int socket, StreamConnection& connection, Time now);

// Calls shutdown(SHUT_WR): the peer reads our end of stream; reading goes on.
void end_stream(int socket, StreamConnection& connection, Time now);

// Returns the argument of sendmsg() for these pieces; the type of their number differs between systems.
msghdr message_of(std::span<iovec> pieces);

// Returns the result of a connect in progress: 0, or the errno.
int connect_result(int socket);

// Returns how many bytes a recv() would find.
std::size_t unread_bytes(int socket);

}  // namespace joust

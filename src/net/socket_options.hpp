// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.hpp"
#include "joust/time.hpp"
#include "net/transport.hpp"

#include "joust/socket_options.hpp"

namespace joust {

// What the kernel says a socket has. Empty where the socket's family does not know the option.
struct SocketFacts {
  std::optional<bool> nodelay;
  std::optional<int> send_buffer;     // bytes, as the kernel counts: twice what was asked
  std::optional<int> receive_buffer;  // bytes, likewise
  std::optional<std::string> congestion;
  std::optional<int> backlog;  // listeners: what the kernel granted
};

// A socket of the transport, as stream_socket() and datagram_socket() make it.
Fd socket_of(Transport transport, int family, int flags);

// Sets the options; of a datagram socket only its buffers. Where no size is asked for, its receive buffer is
// made as large as it may be here, because nothing holds senders back. On a listener they pass to every
// accepted connection. A congestion control that is not allowed here is left at the machine's default, which
// read_back shows. Throws std::system_error for the rest.
void apply(const SocketOptions& options, int socket, Transport transport = Transport::stream);

// Why TCP sockets of that family (AF_INET, AF_INET6) cannot have the congestion control; empty where they
// can, for the empty name, and where the machine has no sockets of that family.
std::string congestion_refused(const std::string& name, int family);

SocketFacts read_back(int socket);

// How many datagrams the kernel has dropped for want of room in this socket's buffer. 0 where it does not
// tell.
std::uint64_t dropped_datagrams(int socket);

// Sets a timeout of a blocking socket: SO_RCVTIMEO or SO_SNDTIMEO, at least 1 us.
void set_timeout(int socket, int option, Duration time);

}  // namespace joust

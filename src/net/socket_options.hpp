// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.hpp"
#include "joust/socket_options.hpp"
#include "joust/time.hpp"

namespace joust {

// The kind of an engine's sockets: streams (TCP, unix sockets) or datagrams (UDP).
enum class Transport : std::uint8_t { stream, datagram };

// The options of a socket, read from the kernel. Empty where the socket's family does not have the option.
struct SocketFacts {
  std::optional<bool> nodelay;
  std::optional<int> send_buffer;     // bytes, in the kernel's count: twice the requested size
  std::optional<int> receive_buffer;  // bytes, counted in the same way
  std::optional<std::string> congestion;
  std::optional<int> backlog;  // listeners: granted by the kernel
};

// Makes a socket of the transport by stream_socket() or datagram_socket().
Fd socket_of(Transport transport, int family, int flags);

// Sets the options; for a datagram socket only its buffers. If no size is asked for, a datagram socket's
// receive buffer is made as large as this machine allows, because senders are not slowed down. Accepted
// connections inherit a listener's options. If a congestion control is not allowed on this machine, the
// machine's default stays, and read_back() shows it. Throws std::system_error for other failures.
void apply(const SocketOptions& options, int socket, Transport transport = Transport::stream);

// Returns why TCP sockets of that family (AF_INET, AF_INET6) cannot have the congestion control. Empty if
// they can, for the empty name, and if the machine has no sockets of that family.
std::string congestion_refused(const std::string& name, int family);

SocketFacts read_back(int socket);

// Returns how many datagrams the kernel has dropped for want of room in this socket's buffer. 0 where the
// system does not report it.
std::uint64_t dropped_datagrams(int socket);

// Sets a timeout of a blocking socket: SO_RCVTIMEO or SO_SNDTIMEO, at least 1 us.
void set_timeout(int socket, int option, Duration time);

}  // namespace joust

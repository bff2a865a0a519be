// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <span>

#include "connection/datagram.hpp"
#include "net/address.hpp"

// The plain calls of the engines on UDP: one datagram each. They do not block, and fail as the system calls
// do.
namespace joust {

// Calls recvfrom(). A buffer of kUdpBuffer bytes holds every datagram.
ssize_t receive_datagram(int fd, std::span<std::byte> buffer, Endpoint& from);

// Calls sendto(), or sendmsg() for a long message, which stays where it is and is sent together with its
// header. `to` is null if the socket is connected.
ssize_t send_datagram(int fd, const DatagramOut& datagram, const Endpoint* to);

// Returns true for errors that the network reports for an earlier datagram.
bool is_of_network(int error);

}  // namespace joust

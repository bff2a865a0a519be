// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "base/fd.hpp"
#include "engines/udp/multicast.hpp"

// Sockets of a group of multicast on the loopback interface, as tests need them.
namespace joust::conformance {

inline MulticastInterface loopback() {
  return required_interface({{"interface", "lo"}});
}

// Bound to a port of 127.0.0.1, and sends to groups there.
Fd group_sender();

// A member of the group, bound to its port (0: any), which others may be too.
Fd group_member(const Endpoint& group);

}  // namespace joust::conformance

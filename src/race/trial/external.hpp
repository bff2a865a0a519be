// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace joust::race {

// A port of the loopback address that nobody listens on at this moment. Another program may take it before
// the contestant does: it then fails to start, which is reported like any failure. Throws std::system_error.
std::uint16_t free_port();

// Whether somebody accepts connections on this port of the loopback address.
bool accepts(std::uint16_t port);

}  // namespace joust::race

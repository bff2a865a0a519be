// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace joust::race {

// A free port of the loopback address. Another program may take it before the contestant does; the contestant
// then fails to start, which is reported like any failure. Throws std::system_error.
std::uint16_t free_port();

// True if connections to this port of the loopback address are accepted.
bool accepts(std::uint16_t port);

}  // namespace joust::race

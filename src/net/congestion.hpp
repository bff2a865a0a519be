// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace joust {

// Sets the congestion control of a TCP socket (TCP_CONGESTION). Fails with ENOPROTOOPT where the system
// offers no choice, as on macOS. Returns the result of setsockopt().
int set_congestion(int socket, const std::string& name);

std::optional<std::string> congestion_of(int socket);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace joust {

// The congestion control of a TCP socket (TCP_CONGESTION). Fails with ENOPROTOOPT where the system has no
// such choice, as macOS. Returns what setsockopt() does.
int set_congestion(int socket, const std::string& name);

std::optional<std::string> congestion_of(int socket);

}  // namespace joust

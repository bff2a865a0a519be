// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace joust {

// The kind of an engine's sockets: streams (TCP, unix sockets) or datagrams (UDP).
enum class Transport : std::uint8_t { stream, datagram };

}  // namespace joust

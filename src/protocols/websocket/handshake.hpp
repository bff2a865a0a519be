// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "joust/bytes.hpp"
#include "protocols/websocket/message.hpp"

// The opening handshake of RFC 6455, section 4. Only handshake.cpp includes Boost.Beast, which reads the
// heads, and OpenSSL, which has SHA-1 and base64.
namespace joust::websocket {

// Returns a key made of 16 bytes, in base64.
std::string key_of(std::uint64_t first_half, std::uint64_t second_half);

// Returns the value of Sec-WebSocket-Accept that answers a key.
std::string accept_of(std::string_view key);

// Reads a client's head, with its empty line. Returns its key, or what the server refuses it with: a status
// of HTTP.
std::expected<std::string, Violation> key_in(Bytes head);

// Returns why a server's head is not the right answer to a handshake with this key; empty if it is.
std::string objection_to_answer(Bytes head, std::string_view key);

}  // namespace joust::websocket

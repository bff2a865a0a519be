// SPDX-License-Identifier: MIT
//
// Replaces handshake.cpp where Boost.Beast or OpenSSL was not found at build time. The protocol then keeps
// its row with the reason, and only handshake_unavailable() is called.
#include "protocols/websocket/handshake.hpp"

namespace joust::websocket {

std::string handshake_unavailable() {
  return "Boost.Beast or OpenSSL 3 not found at build time: script/setup websocket && script/build";
}

std::string key_of(std::uint64_t /*first_half*/, std::uint64_t /*second_half*/) {
  return {};
}

std::string accept_of(std::string_view /*key*/) {
  return {};
}

std::expected<std::string, Violation> key_in(Bytes /*head*/) {
  return std::unexpected(Violation{503, "this program cannot do a handshake"});
}

std::string objection_to_answer(Bytes /*head*/, std::string_view /*key*/) {
  return "this program cannot do a handshake";
}

}  // namespace joust::websocket

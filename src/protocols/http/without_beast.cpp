// SPDX-License-Identifier: MIT
//
// Replaces messages.cpp where Boost was not found at build time. The protocol then keeps its row with the
// reason, and only messages_unavailable() is called.
#include "protocols/http/messages.hpp"

namespace joust::http {

std::string messages_unavailable() {
  return "Boost.Beast not found at build time: script/setup http && script/build";
}

std::expected<Request, Status> parse_request(Bytes /*head*/) {
  return std::unexpected(Status::internal_error);
}

std::expected<ReplyHead, std::string> parse_reply(Bytes /*head*/, ReplyTo /*request*/) {
  return std::unexpected("this program cannot read HTTP");
}

}  // namespace joust::http

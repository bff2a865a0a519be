// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace joust {

// The parts of an address of HTTP or WebSocket.
struct LoadUrl {
  std::string protocol{};  // "http" or "websocket"
  std::string address{};   // to connect to: "127.0.0.1:8080"
  std::string host{};      // as it was written, for the field Host
  bool secure = false;     // https:// or wss://
  std::string path{};      // with the query; "/" if there is none
};

// Parses "http://HOST[:PORT][/PATH]", or https://, ws:// and wss://; the port is 80 or 443 if there is none.
// An error says what is wrong.
std::expected<LoadUrl, std::string> parse_load_url(std::string_view text);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace joust {

// The parts of an address of HTTP.
struct HttpUrl {
  std::string address{};  // to connect to: "127.0.0.1:8080"
  std::string host{};     // as it was written, for the field Host
  std::string path{};     // with the query; "/" if there is none
};

// Parses "http://HOST[:PORT][/PATH]"; the port is 80 if there is none. An error says what is wrong.
std::expected<HttpUrl, std::string> parse_http_url(std::string_view text);

}  // namespace joust

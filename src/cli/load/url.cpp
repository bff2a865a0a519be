// SPDX-License-Identifier: MIT
#include "cli/load/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace joust {

namespace {

struct Scheme {
  std::string_view begin;
  const char* protocol;
  bool secure;
};
constexpr std::array kSchemes{Scheme{"http://", "http", false}, Scheme{"https://", "http", true},
                              Scheme{"ws://", "websocket", false}, Scheme{"wss://", "websocket", true}};

// Schemes have no case (RFC 3986, 3.1). `lower` is in lower case.
bool begins_with(std::string_view text, std::string_view lower) {
  const auto same = [](char one, char other) {
    return (one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one) == other;
  };
  return text.size() >= lower.size() && std::ranges::equal(text.substr(0, lower.size()), lower, same);
}

}  // namespace

std::expected<LoadUrl, std::string> parse_load_url(std::string_view text) {
  const auto* const scheme =
      std::ranges::find_if(kSchemes, [&](const Scheme& one) { return begins_with(text, one.begin); });
  if (scheme == kSchemes.end())
    return std::unexpected(fmt::format(
        "'{}' is no address such as http://127.0.0.1:8080/ or ws://127.0.0.1:8080/", printable(text)));
  std::string_view rest = text.substr(scheme->begin.size());
  rest = rest.substr(0, rest.find('#'));
  const std::size_t end = rest.find_first_of("/?");
  LoadUrl url{.protocol = scheme->protocol,
              .host = std::string(rest.substr(0, end)),
              .secure = scheme->secure,
              .path = end == rest.npos ? "/" : std::string(rest.substr(end))};
  if (url.path.starts_with('?')) url.path.insert(0, "/");
  if (url.host.empty() || url.host.contains('@'))
    return std::unexpected(
        fmt::format("'{}' has no host, or a user before it, which is not supported", printable(text)));
  const std::size_t bracket = url.host.find(']'), colon = url.host.rfind(':');
  const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  url.address = has_port ? url.host : url.host + (url.secure ? ":443" : ":80");
  return url;
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#include "cli/load/url.hpp"

#include <fmt/format.h>

#include "base/printable.hpp"

namespace joust {

std::expected<HttpUrl, std::string> parse_http_url(std::string_view text) {
  constexpr std::string_view kPlain = "http://", kSecure = "https://";
  const bool secure = text.starts_with(kSecure);
  if (!secure && !text.starts_with(kPlain))
    return std::unexpected(fmt::format("'{}' is no address such as http://127.0.0.1:8080/", printable(text)));
  std::string_view rest = text.substr(secure ? kSecure.size() : kPlain.size());
  rest = rest.substr(0, rest.find('#'));
  const std::size_t end = rest.find_first_of("/?");
  HttpUrl url{.host = std::string(rest.substr(0, end)),
              .secure = secure,
              .path = end == rest.npos ? "/" : std::string(rest.substr(end))};
  if (url.path.starts_with('?')) url.path.insert(0, "/");
  if (url.host.empty() || url.host.contains('@'))
    return std::unexpected(
        fmt::format("'{}' has no host, or a user before it, which is not supported", printable(text)));
  const std::size_t bracket = url.host.find(']'), colon = url.host.rfind(':');
  const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  url.address = has_port ? url.host : url.host + (secure ? ":443" : ":80");
  return url;
}

}  // namespace joust

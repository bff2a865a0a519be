// SPDX-License-Identifier: MIT
#include "cli/load/url.hpp"

#include <fmt/format.h>

#include "base/printable.hpp"

namespace joust {

std::expected<HttpUrl, std::string> parse_http_url(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  if (text.starts_with("https://"))
    return std::unexpected("a load does not speak TLS: say http://, if the server has a port without TLS");
  if (!text.starts_with(kScheme))
    return std::unexpected(fmt::format("'{}' is no address such as http://127.0.0.1:8080/", printable(text)));
  std::string_view rest = text.substr(kScheme.size());
  rest = rest.substr(0, rest.find('#'));
  const std::size_t end = rest.find_first_of("/?");
  HttpUrl url{.host = std::string(rest.substr(0, end)),
              .path = end == rest.npos ? "/" : std::string(rest.substr(end))};
  if (url.path.starts_with('?')) url.path.insert(0, "/");
  if (url.host.empty() || url.host.contains('@'))
    return std::unexpected(
        fmt::format("'{}' has no host, or a user before it, which is not supported", printable(text)));
  const std::size_t bracket = url.host.find(']'), colon = url.host.rfind(':');
  const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  url.address = has_port ? url.host : url.host + ":80";
  return url;
}

}  // namespace joust

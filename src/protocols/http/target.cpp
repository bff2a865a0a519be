// SPDX-License-Identifier: MIT
#include "protocols/http/target.hpp"

#include <algorithm>
#include <optional>

namespace joust::http {
namespace {

constexpr std::string_view kScheme = "http://";

bool has_scheme(std::string_view target) {
  const auto same = [](char a, char b) { return (a | 0x20) == b || a == b; };
  return target.size() > kScheme.size() &&
         std::ranges::equal(target.substr(0, kScheme.size()), kScheme, same);
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// The byte that "%41..." begins with.
std::optional<char> escaped(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  const auto high = hex_digit(text[1]), low = hex_digit(text[2]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(*high * 16 + *low);
}

}  // namespace

std::expected<RequestTarget, Status> parse_target(std::string_view target) {
  if (target == "*") return RequestTarget{target};
  if (target.find('#') != std::string_view::npos) return std::unexpected(Status::bad_request);
  if (has_scheme(target)) {
    target.remove_prefix(kScheme.size());
    const std::size_t host = std::min(target.find_first_of("/?"), target.size());
    if (host == 0) return std::unexpected(Status::bad_request);
    target.remove_prefix(host);
    if (target.empty() || target.front() == '?') return RequestTarget{"/", target};
  }
  if (!target.starts_with('/')) return std::unexpected(Status::bad_request);
  const std::size_t end = std::min(target.find('?'), target.size());
  return RequestTarget{target.substr(0, end), target.substr(end)};
}

std::expected<std::string, Status> file_name(std::string_view path) {
  path.remove_prefix(1);
  std::string name;
  name.reserve(path.size());
  while (!path.empty()) {
    if (path.front() != '%') {
      name += path.front();
      path.remove_prefix(1);
      continue;
    }
    const auto byte = escaped(path);
    if (!byte) return std::unexpected(Status::bad_request);
    if (*byte == '/') return std::unexpected(Status::not_found);
    name += *byte;
    path.remove_prefix(3);
  }
  if (name.empty() || name.ends_with('/')) name += "index.html";
  return name;
}

}  // namespace joust::http

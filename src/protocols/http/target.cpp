// SPDX-License-Identifier: MIT
#include "protocols/http/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/system/sockets.hpp"
#include "base/text.hpp"
#include "protocols/http/messages.hpp"

namespace joust::http {
namespace {

constexpr std::string_view kScheme = "http://";

bool has_scheme(std::string_view target) {
  const auto same = [](char a, char b) { return (a | 0x20) == b || a == b; };
  return target.size() > kScheme.size() &&
         std::ranges::equal(target.substr(0, kScheme.size()), kScheme, same);
}

// Returns the authority of an absolute target.
std::string_view authority_of(std::string_view target) {
  target.remove_prefix(kScheme.size());
  return target.substr(0, target.find_first_of("/?"));
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name_character(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return is_digit(c) || (lower >= 'a' && lower <= 'z') || std::string_view("-._~%!$&'()*+;=").contains(c);
}

// Decodes the byte at the beginning of "%41...".
std::optional<char> escaped(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  const auto high = hexadecimal_digit(text[1]), low = hexadecimal_digit(text[2]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(*high * 16 + *low);
}

}  // namespace

bool is_authority(std::string_view text) {
  const bool in_brackets = text.starts_with('[');
  const std::size_t end = std::min(in_brackets ? text.find(']') : text.find(':'), text.size());
  const std::string_view host = in_brackets ? text.substr(1, end - 1) : text.substr(0, end);
  if (host.empty() || (in_brackets && end == text.size())) return false;
  text.remove_prefix(in_brackets ? end + 1 : end);
  const auto fits = [&](char c) { return is_name_character(c) || (in_brackets && c == ':'); };
  return std::ranges::all_of(host, fits) &&
         (text.empty() || (text.front() == ':' && std::ranges::all_of(text.substr(1), is_digit)));
}

std::string_view host_of(const Request& request) {
  return has_scheme(request.target) ? authority_of(request.target) : request.host;
}

std::expected<RequestTarget, Status> parse_target(std::string_view target) {
  if (target == "*") return RequestTarget{target};
  if (target.find('#') != std::string_view::npos) return std::unexpected(Status::bad_request);
  if (has_scheme(target)) {
    const std::string_view host = authority_of(target);
    if (!is_authority(host)) return std::unexpected(Status::bad_request);
    target.remove_prefix(kScheme.size() + host.size());
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

namespace {

// Normalizes a host: "Example.org.:80" becomes "example.org"; "[::1]:80" becomes "[::1]".
std::string without_port(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') + 1 : std::min(host.find(':'), host.size());
  std::string name(host.substr(0, end));
  if (name.ends_with('.')) name.pop_back();
  std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; });
  return name;
}

bool means_loopback(std::string_view name) {
  const bool in_brackets = name.starts_with('[');
  if (in_brackets) name = name.substr(1, name.size() - 2);
  return name == "localhost" || (name.contains(':') == in_brackets && is_loopback_address(name));
}

}  // namespace

AllowedHosts AllowedHosts::of_loopback(std::string_view others) {
  AllowedHosts hosts;
  hosts.has_all_ = false;
  while (!others.empty()) {
    const std::string_view one = others.substr(0, others.find(','));
    others.remove_prefix(std::min(others.size(), one.size() + 1));
    if (!is_authority(one))
      throw std::invalid_argument(
          fmt::format("--allowed-hosts: '{}' is no host; write names or addresses with a comma between them",
                      printable(one)));
    hosts.others_.push_back(without_port(one));
  }
  return hosts;
}

bool AllowedHosts::contain(std::string_view host) const {
  if (has_all_ || host.empty()) return true;
  const std::string name = without_port(host);
  return means_loopback(name) || std::ranges::find(others_, name) != others_.end();
}

}  // namespace joust::http

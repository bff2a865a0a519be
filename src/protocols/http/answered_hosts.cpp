// SPDX-License-Identifier: MIT
#include "protocols/http/answered_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/loopback.hpp"
#include "base/printable.hpp"
#include "protocols/http/target.hpp"

namespace joust::http {
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

AnsweredHosts AnsweredHosts::of_loopback(std::string_view others) {
  AnsweredHosts hosts;
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

bool AnsweredHosts::contain(std::string_view host) const {
  if (has_all_ || host.empty()) return true;
  const std::string name = without_port(host);
  return means_loopback(name) || std::ranges::find(others_, name) != others_.end();
}

}  // namespace joust::http

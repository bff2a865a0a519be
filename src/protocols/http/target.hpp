// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "protocols/http/messages.hpp"

namespace joust::http {

// The two parts of a request's target, as views of it.
struct RequestTarget {
  std::string_view path{};   // as sent, with its percent signs: "/a%20b"; or "*"
  std::string_view query{};  // with its '?'; may be empty
};

// True for "name:80", "127.0.0.1" and "[::1]:80" (RFC 3986, 3.2). False for an authority with a user or a
// comma, which servers read differently.
bool is_authority(std::string_view text);

// Returns the host of a request, with its port: the host in its target, or otherwise the field Host (RFC
// 9112, 3.2.2). Empty if the request names none.
std::string_view host_of(const Request& request);

// Takes "/path?query", "http://host/path?query" and "*" (RFC 9112, 3.2). The host is left out: see host_of().
std::expected<RequestTarget, Status> parse_target(std::string_view target);

// Returns the name of the file: without the first slash and without percent signs. For a folder, which ends
// with a slash, it is the folder's index.html. Slashes that are written %2F are refused. The rules of names
// (objection_to()) are not checked.
std::expected<std::string, Status> file_name(std::string_view path);

// The hosts that a server answers. A server that only this machine can reach answers only hosts that can mean
// this machine. A page of any other host, whose owner changes its address to 127.0.0.1, would have the same
// origin as the server for a browser, and could read the served files (DNS rebinding).
class AllowedHosts {
 public:
  AllowedHosts() = default;  // answers all hosts

  // Answers loopback addresses, `localhost`, and `others`: names or addresses with a comma between them.
  // Throws std::invalid_argument for any other text.
  static AllowedHosts of_loopback(std::string_view others);

  // `host` is the host of a request; its port does not matter. A request without a host is answered: no
  // browser sends one.
  bool contain(std::string_view host) const;

 private:
  bool has_all_ = true;
  std::vector<std::string> others_;  // in lower case, without a dot at the end
};

}  // namespace joust::http

// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <string_view>

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

}  // namespace joust::http

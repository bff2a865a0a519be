// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "joust/bytes.hpp"

// The heads of requests and replies as plain values. Only messages.cpp knows Boost.Beast, whose parser reads
// them; where it was not found at build time, without_beast.cpp takes its place.
namespace joust::http {

inline constexpr std::size_t kMostFields = 100;  // of a head

enum class Method : std::uint8_t { get, head, options, other };

enum class Status : std::uint16_t {
  ok = 200,
  partial_content = 206,
  moved_permanently = 301,
  not_modified = 304,
  bad_request = 400,
  forbidden = 403,
  not_found = 404,
  method_not_allowed = 405,
  request_timeout = 408,
  precondition_failed = 412,
  content_too_large = 413,
  target_too_long = 414,
  range_not_satisfiable = 416,
  expectation_failed = 417,
  misdirected_request = 421,
  fields_too_large = 431,
  internal_error = 500,
  not_implemented = 501,
  unavailable = 503,
  version_not_supported = 505,
};

// The texts are views of the head. Those of fields that are not there are empty, and so are those of
// conditions that are there more than once: a server may ignore them. Without its If-Range a Range is left
// out, and so is a date beside tags that are ignored.
struct Request {
  Method method = Method::other;
  std::string_view target{};
  std::string_view host{};     // of the field; with a port
  bool is_1_0 = false;         // of HTTP/1.0
  bool keeps_alive = false;    // another request may follow
  bool has_body = false;       // follows the head
  bool expects_other = false;  // a field Expect that is not 100-continue
  std::string_view range{}, if_range{};
  std::string_view if_match{}, if_none_match{}, if_modified_since{}, if_unmodified_since{};
};

struct ReplyHead {
  // How the end of the body is known. A body until the end of the stream makes the reply the last one.
  enum class Body : std::uint8_t { none, sized, chunked, until_end };

  unsigned status = 0;
  Body body = Body::none;
  std::uint64_t content_length = 0;  // (sized only)
  bool is_last = false;              // the server ends the connection after this reply

  bool is_interim() const { return status < 200; }  // another reply to the same request follows
};

// Why there are no such heads in this program; empty if there are.
std::string messages_unavailable();

// A complete head, with its empty line; or the status that a server refuses it with. The connection must be
// closed then, because the two sides may disagree about its end. Allocates nothing.
std::expected<Request, Status> parse_request(Bytes head);

// The head of a reply to GET, with its empty line. The error says what is wrong, in words.
std::expected<ReplyHead, std::string> parse_reply(Bytes head);

}  // namespace joust::http

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "joust/bytes.hpp"

// The heads of requests and replies as plain values, and the texts of their fields. Only messages.cpp
// includes Boost.Beast, whose parser reads the heads.
namespace joust::http {

inline constexpr std::size_t kMostFields = 100;  // fields of a head

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

// A request; the texts are views of the head. A missing field has an empty text. So has a condition that
// occurs more than once: a server may ignore it. A Range is left out without its If-Range, and so is a date
// beside ignored tags.
struct Request {
  Method method = Method::other;
  std::string_view target{};
  std::string_view host{};     // the field Host, with its port
  bool is_1_0 = false;         // the version is HTTP/1.0
  bool keeps_alive = false;    // another request may follow
  bool has_body = false;       // a body follows the head
  bool expects_other = false;  // a field Expect that is not 100-continue
  std::string_view range{}, if_range{};
  std::string_view if_match{}, if_none_match{}, if_modified_since{}, if_unmodified_since{};
};

struct ReplyHead {
  // The way in which the end of the body is known. A body until the end of the stream makes the reply the
  // last one.
  enum class Body : std::uint8_t { none, sized, chunked, until_end };

  unsigned status = 0;
  Body body = Body::none;
  std::uint64_t content_length = 0;  // valid for `sized` only
  bool is_last = false;              // the server ends the connection after this reply

  bool is_interim() const { return status < 200; }  // another reply to the same request follows
};

// Parses a complete head, with its empty line; or returns the status that a server refuses it with. The
// connection must be closed then, because the two sides may disagree about the end of the head. Allocates
// nothing.
std::expected<Request, Status> parse_request(Bytes head);

// The request of a reply. A reply to HEAD has no body, whatever length it says.
enum class ReplyTo : std::uint8_t { head, others };

// Parses the head of a reply, with its empty line. The error describes the problem.
std::expected<ReplyHead, std::string> parse_reply(Bytes head, ReplyTo request = ReplyTo::others);

// Returns the value of a field, or a part of it, without the blanks around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// Compares a name or a token, in which letters of either case are the same.
inline bool is_token(std::string_view text, std::string_view lower_case) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(text, lower_case, {}, lower);
}

// Returns false for text with a character that would end a line or a word of the request.
inline bool is_one_word(std::string_view text) {
  return !text.empty() && text.find(' ') == text.npos && !has_control(text);
}

// Returns the beginning of a server's text, for a complaint.
inline std::string snippet(std::string_view text) {
  constexpr std::size_t kMost = 60;  // bytes
  return printable(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "");
}

inline std::optional<unsigned> hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

}  // namespace joust::http

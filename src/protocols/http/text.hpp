// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace joust::http {

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

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include "joust/bytes.hpp"

namespace joust {

// A token that is no secret: too short, too regular, or not readable. what() gives the reason, and the way to
// make a good one.
class WeakToken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The secret that both sides of a connection know. Only keys that are derived from it are used, one for each
// purpose, so that the knowledge of one key reveals nothing about another.
class Token {
 public:
  using Key = std::array<std::byte, 32>;

  // Makes a random token of 258 bits in base64url. Throws std::runtime_error if the system has no random
  // bytes.
  static Token make();

  // Takes text of hexadecimal or base64 digits with at least 128 bits; white space around it is left out.
  // Throws WeakToken, whose message never contains the refused text.
  explicit Token(std::string_view text);

  ~Token();
  Token(const Token&) = default;
  Token& operator=(const Token&) = default;

  const std::string& text() const { return text_; }
  Key key_for(std::string_view purpose) const;

 private:
  std::string text_;
};

// Returns the HMAC-SHA-256 of the concatenated parts.
Token::Key authenticated(const Token::Key& key, std::initializer_list<Bytes> parts);

}  // namespace joust

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

// A token that is no secret: too short, too regular, or not readable. what() says so, and how to make one.
class WeakToken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The secret that both sides of a connection know. Only keys that are derived from it are used, one for each
// purpose, so that what is learned of one says nothing of another.
class Token {
 public:
  using Key = std::array<std::byte, 32>;

  // 32 random bytes in base64url. Throws std::runtime_error if the system has no random bytes.
  static Token make();

  // Text of hexadecimal or base64 digits with at least 128 bits; white space around it is left out. Throws
  // WeakToken. What is refused is never in its words.
  explicit Token(std::string_view text);

  ~Token();
  Token(const Token&) = default;
  Token& operator=(const Token&) = default;

  const std::string& text() const { return text_; }
  Key key_for(std::string_view purpose) const;

 private:
  std::string text_;
};

// HMAC-SHA-256 of the parts, one after the other.
Token::Key authenticated(const Token::Key& key, std::initializer_list<Bytes> parts);

}  // namespace joust

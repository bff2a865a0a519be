// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

namespace joust::http {

inline std::optional<unsigned> hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

}  // namespace joust::http

// SPDX-License-Identifier: MIT
#include "base/toml_objection.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace joust {

std::string toml_objection(std::string_view text) {
  constexpr std::size_t kMostDots = 5000;  // in a line, because a key ends with it
  std::size_t line = 1, dots = 0;
  for (const char c : text) {
    if (c == '.' && ++dots > kMostDots)
      return fmt::format("line {}: there are more than {} dots in it", line, kMostDots);
    if (c == '\n') ++line, dots = 0;
  }
  return {};
}

std::string toml_error(std::string_view text, std::size_t line, std::size_t column, std::string_view words) {
  for (; line > 1 && text.contains('\n'); --line) text.remove_prefix(text.find('\n') + 1);
  const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
  if (words.contains("string: ") && column > end)
    return "a text has no closing quote: the line ends within it";
  return std::string(words);
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#include "base/toml_objection.hpp"

#include <fmt/format.h>

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

}  // namespace joust

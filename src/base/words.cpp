// SPDX-License-Identifier: MIT
#include "base/words.hpp"

#include <fmt/format.h>

namespace joust {

std::string counted(std::uint64_t number, std::string_view noun) {
  if (number != 1 && noun.ends_with("ry"))
    return fmt::format("{} {}ies", number, noun.substr(0, noun.size() - 1));
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string join(std::span<const std::string> words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (&word != &words.front()) text += separator;
    text += word;
  }
  return text;
}

}  // namespace joust

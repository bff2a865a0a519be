// SPDX-License-Identifier: MIT
#include "base/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace joust::documents {

void refuse(const std::string& way, std::string_view is, std::string_view should) {
  throw WrongDocument(
      fmt::format("{}: is {}, and should be {}", way.empty() ? "the document" : way, is, should));
}

void refuse_value(const std::string& way, const Json& value, std::string_view should) {
  const bool is_short = value.is_primitive() && !value.is_string();
  refuse(way, is_short ? value.dump() : fmt::format("of type {}", value.type_name()), should);
}

std::string way_below(const std::string& way, std::string_view key) {
  return way.empty() ? std::string(key) : fmt::format("{}.{}", way, key);
}

std::string way_below(const std::string& way, std::size_t place) {
  return fmt::format("{}[{}]", way, place);
}

std::size_t place_of_word(const Json& from, const std::string& way, std::span<const std::string_view> words) {
  if (!from.is_string()) refuse_value(way, from, "a word");
  const auto& word = from.get_ref<const std::string&>();
  const auto found = std::ranges::find(words, word);
  if (found == words.end())
    refuse(way, fmt::format("'{}'", word),
           join(std::vector<std::string>(words.begin(), words.end()), " or "));
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace joust::documents

// SPDX-License-Identifier: MIT
#include "protocols/resp/command.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace joust::resp {
namespace {

using Objection = std::unexpected<std::string_view>;

// Takes a line of a type and a number, such as "$3\r\n". The message was cut by RespFinder, so its lines are
// complete.
std::optional<std::int64_t> take_number(char type, std::string_view& text) {
  std::int64_t number = 0;
  if (!text.starts_with(type)) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 2);
  return number;
}

char upper(char letter) {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

}  // namespace

std::expected<Command, std::string_view> Command::read(Bytes message) {
  std::string_view text = as_text(message);
  Command command;
  const auto words = take_number('*', text);
  if (!words) {
    constexpr std::string_view kSpaces = " \t\r\n";
    while (text.find_first_not_of(kSpaces) != text.npos) {
      text.remove_prefix(text.find_first_not_of(kSpaces));
      const std::size_t end = std::min(text.find_first_of(kSpaces), text.size());
      if (!command.add(text.substr(0, end))) return Objection("Protocol error: too many arguments");
      text.remove_prefix(end);
    }
    return command;
  }
  for (std::int64_t word = 0; word < *words; ++word) {
    const auto size = take_number('$', text);
    if (!size || *size < 0) return Objection("Protocol error: expected '$' and a size");
    if (!command.add(text.substr(0, static_cast<std::size_t>(*size))))
      return Objection("Protocol error: too many arguments");
    text.remove_prefix(static_cast<std::size_t>(*size) + 2);
  }
  return command;
}

bool Command::is(std::string_view upper_case_name) const {
  return std::ranges::equal(name(), upper_case_name, {}, upper);
}

bool Command::add(std::string_view word) {
  if (count_ == kMostWords) return false;
  words_[count_++] = word;
  return true;
}

}  // namespace joust::resp

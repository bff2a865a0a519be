// SPDX-License-Identifier: MIT
#include "base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace joust {
namespace {

// Returns the number of bytes of the control character at `i`: C0, DEL, or C1 in UTF-8 (C2 80 to C2 9F). 0 if
// it is none.
std::size_t control_at(std::string_view text, std::size_t i) {
  const auto byte = static_cast<std::uint8_t>(text[i]);
  if (byte < 0x20 || byte == 0x7F) return 1;
  return byte == 0xC2 && i + 1 < text.size() && static_cast<std::uint8_t>(text[i + 1]) < 0xA0 ? 2 : 0;
}

// Returns whether the character changes the order of shown text: U+200E, U+200F, U+202A to U+202E, U+2066 to
// U+2069.
bool turns_direction(std::string_view character) {
  const auto within = [&](std::string_view first, std::string_view last) {
    return character.size() == first.size() && character >= first && character <= last;
  };
  return within("\xE2\x80\x8E", "\xE2\x80\x8F") || within("\xE2\x80\xAA", "\xE2\x80\xAE") ||
         within("\xE2\x81\xA6", "\xE2\x81\xA9");
}

// Returns whether the character is U+FFFE or U+FFFF, which stand for nothing, and which XML forbids.
bool is_nothing(std::string_view character) {
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

bool is_harmless(std::string_view character) {
  return control_at(character, 0) == 0 && !turns_direction(character) && !is_nothing(character) &&
         character != "\\";
}

}  // namespace

bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (control_at(text, i) > 0) return true;
  return false;
}

std::size_t utf8_sequence(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  const std::uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (at(1) < least || at(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (at(i) < 0x80 || at(i) > 0xBF) return 0;
  return length;
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = utf8_sequence(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, size));
    if (kept.contains(text.front()) || (size > 0 && is_harmless(character)))
      result += character;
    else if (character == "\\")
      result += "\\\\";
    else
      for (const char c : character) result += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(c));
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#include "store/name.hpp"

#include <algorithm>
#include <cstdint>

#include "base/text.hpp"

namespace joust {
namespace {

// The length of the UTF-8 sequence that begins here, or 0 if it is invalid: stray, overlong or truncated, a
// surrogate, or beyond U+10FFFF (Unicode 15, table 3-7).
std::size_t sequence(std::string_view text) {
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

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string_view objection_to_component(std::string_view part) {
  if (part.empty()) return "a part of the name is empty";
  if (part == "." || part == "..") return "'.' and '..' are no names";
  if (part.size() > kLongestComponent) return "a part of the name is longer than 255 bytes";
  if (part.starts_with(kTemporaryPrefix)) return "names of this kind are the server's own";
  return {};
}

}  // namespace

std::vector<std::string_view> components(std::string_view name) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t slash = name.find('/');
    parts.push_back(name.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    name.remove_prefix(slash + 1);
  }
}

std::string_view objection_to(std::string_view name) {
  if (name.empty()) return "the name is empty";
  if (name.size() > kLongestName) return "the name is longer than 1024 bytes";
  if (name.front() == '/') return "the name is absolute";
  if (!is_utf8(name)) return "the name is not UTF-8";
  if (has_control(name)) return "the name has a control character";
  for (const std::string_view part : components(name))
    if (const std::string_view objection = objection_to_component(part); !objection.empty()) return objection;
  return {};
}

}  // namespace joust

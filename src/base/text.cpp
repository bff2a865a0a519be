// SPDX-License-Identifier: MIT
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

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

namespace {

// Returns the edit distance. A swap of neighbours is one edit, because it is the most frequent typing error.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> last(b.size() + 1), row(last), next(last);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], last[j - 2] + 1);
    }
    std::swap(last, row);
    std::swap(row, next);
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kTelling = 3;  // letters of a beginning
  const auto begins = [&](const std::string& candidate) { return candidate.starts_with(word); };
  if (word.size() >= kTelling && std::ranges::count_if(candidates, begins) == 1)
    return *std::ranges::find_if(candidates, begins);
  std::string best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // Two changes make any short word of another, and one change one of two letters: `no` means no `on`.
    constexpr std::size_t kShort = 4, kTiny = 2;
    const std::size_t distance = edit_distance(word, candidate);
    const std::size_t size = std::max(word.size(), candidate.size());
    const bool too_short = (distance > 1 && size <= kShort) || (distance > 0 && size <= kTiny);
    if (distance < least && !too_short) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string not_allowed(std::string_view problem, std::string_view word,
                        std::span<const std::string> allowed) {
  std::string text = fmt::format("{}; allowed: {}", problem, allowed.empty() ? "nothing" : join(allowed));
  if (const std::string meant = nearest(word, allowed); !meant.empty() && meant != word)
    text += fmt::format("; did you mean '{}'?", meant);
  return text;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? fmt::format("there are: {}", join(candidates))
                      : fmt::format("did you mean '{}'?", near);
}

std::string words_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "there is not enough memory";
  if (const auto* const file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return fmt::format("{}: {}", file->path1().string(), file->code().message());
  std::string_view text = error.what();
  if (const std::size_t end = text.find("] "); text.starts_with("[json.exception.") && end != text.npos)
    text.remove_prefix(end + 2);
  return std::string(text);
}

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

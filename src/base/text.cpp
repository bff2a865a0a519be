// SPDX-License-Identifier: MIT
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "base/terminal.hpp"

namespace joust {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kCountUnits{Unit{"", 1}, Unit{"k", 1e3}, Unit{"M", 1e6}, Unit{"G", 1e9}};
constexpr std::array kByteUnits{Unit{"", 1},           Unit{"k", 1e3},           Unit{"M", 1e6},
                                Unit{"G", 1e9},        Unit{"T", 1e12},          Unit{"Ki", 1024.0},
                                Unit{"Mi", 1048576.0}, Unit{"Gi", 1073741824.0}, Unit{"Ti", 0x1p40}};
constexpr std::array kTimeUnits{Unit{"ns", 1},  Unit{"us", 1e3}, Unit{"ms", 1e6},
                                Unit{"s", 1e9}, Unit{"m", 60e9}, Unit{"h", 3600e9}};

std::string unit_names(std::span<const Unit> units) {
  std::string names;
  for (const Unit& unit : units)
    if (!unit.name.empty()) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names;
}

// Reads a non-negative decimal number and one of `units`. Returns it in the smallest unit.
std::expected<double, std::string> parse_scaled(std::string_view text, std::span<const Unit> units,
                                                std::string_view example) {
  double number = 0;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error == std::errc{} && text.starts_with('-'))
    return std::unexpected(fmt::format("'{}' is negative (write it like {})", text, example));
  // from_chars also takes "inf" and "nan".
  if (error != std::errc{} || !std::isfinite(number))
    return std::unexpected(fmt::format("'{}' is not a number (write it like {})", text, example));
  const std::string_view suffix(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  const auto unit = std::ranges::find(units, suffix, &Unit::name);
  if (unit == units.end() && !(number == 0 && suffix.empty()))
    return std::unexpected(
        suffix.empty() ? fmt::format("'{}' has no unit (write it like {})", text, example)
                       : fmt::format("'{}' has no unit joust knows; there are: {}", text, unit_names(units)));
  const double value = unit == units.end() ? 0 : number * unit->factor;
  if (value > 9.0e18) return std::unexpected(fmt::format("'{}' is too large", text));
  return value;
}

// Rounds to a whole number: connections and bytes have no fraction. The tolerance is for 4.35k, which is only
// nearly 4350.
std::expected<std::uint64_t, std::string> whole(const std::expected<double, std::string>& value,
                                                std::string_view text) {
  if (!value) return std::unexpected(value.error());
  const double nearest = std::round(*value);
  if (std::abs(*value - nearest) > 1e-12 * nearest)
    return std::unexpected(fmt::format("'{}' is not a whole number", text));
  return static_cast<std::uint64_t>(nearest);
}

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

// Formats with three digits. The limits are the values above which rounding would give a fourth digit.
std::string three_digits(double value) {
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

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

bool is_harmless(std::string_view character) {
  return control_at(character, 0) == 0 && !turns_direction(character) && character != "\\";
}

}  // namespace

std::expected<std::uint64_t, std::string> parse_count(std::string_view text) {
  return whole(parse_scaled(text, kCountUnits, "300 or 10k"), text);
}

std::expected<double, std::string> parse_rate(std::string_view text) {
  const auto rate = parse_scaled(text, kCountUnits, "5k or 0.5");
  if (rate && (*rate < 0.001 || *rate > 1e9))
    return std::unexpected(fmt::format("'{}' is not between 0.001 and 1G a second", text));
  return rate;
}

std::expected<std::uint64_t, std::string> parse_bytes(std::string_view text) {
  std::string_view trimmed = text;
  if (trimmed.size() > 1 && trimmed.ends_with('B')) trimmed.remove_suffix(1);
  return whole(parse_scaled(trimmed, kByteUnits, "64, 16KiB or 1M"), text);
}

std::expected<Duration, std::string> parse_duration(std::string_view text) {
  const auto nanoseconds = parse_scaled(text, kTimeUnits, "500us, 10ms or 30s");
  if (!nanoseconds) return std::unexpected(nanoseconds.error());
  return Duration(static_cast<std::int64_t>(std::round(*nanoseconds)));
}

std::expected<double, std::string> parse_percent(std::string_view text) {
  static constexpr std::array kUnits{Unit{"%", 1}, Unit{" %", 1}};
  const auto percent = parse_scaled(text, kUnits, "3% or 0.5%");
  if (!percent) return percent;
  if (*percent <= 0 || *percent >= 100)
    return std::unexpected(fmt::format("'{}' is not above 0 % and below 100 %", text));
  return *percent / 100;
}

std::string format_duration(Duration time) {
  const double ns = static_cast<double>(time.count());
  const double size = std::abs(ns);
  if (size < 1e3) return fmt::format("{:.0f} ns", ns);
  if (size < 999.5e3) return three_digits(ns / 1e3) + " us";
  if (size < 999.5e6) return three_digits(ns / 1e6) + " ms";
  return three_digits(ns / 1e9) + " s";
}

std::string format_count(double count) {
  if (count < 1e3) return count == std::floor(count) ? fmt::format("{:.0f}", count) : three_digits(count);
  if (count < 999.5e3) return three_digits(count / 1e3) + "k";
  if (count < 999.5e6) return three_digits(count / 1e6) + "M";
  return three_digits(count / 1e9) + "G";
}

std::string format_bytes(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1048576) return three_digits(bytes / 1024) + " KiB";
  if (bytes < 1073741824) return three_digits(bytes / 1048576) + " MiB";
  return three_digits(bytes / 1073741824) + " GiB";
}

std::string format_data(double bytes) {
  if (bytes < 999.5) return fmt::format("{:.0f} B", bytes);
  if (bytes < 999.5e3) return three_digits(bytes / 1e3) + " kB";
  if (bytes < 999.5e6) return three_digits(bytes / 1e6) + " MB";
  if (bytes < 999.5e9) return three_digits(bytes / 1e9) + " GB";
  return three_digits(bytes / 1e12) + " TB";
}

std::string format_size(std::uint64_t bytes) {
  static constexpr std::array<std::pair<std::uint64_t, std::string_view>, 4> kBinary{
      {{1ULL << 40, "TiB"}, {1ULL << 30, "GiB"}, {1ULL << 20, "MiB"}, {1ULL << 10, "KiB"}}};
  for (const auto& [factor, unit] : kBinary)
    if (bytes >= factor && bytes % factor == 0) return fmt::format("{} {}", bytes / factor, unit);
  return format_data(static_cast<double>(bytes));
}

std::string format_speed(double bytes_per_s) {
  if (bytes_per_s < 999.5) return fmt::format("{:.0f} B/s", bytes_per_s);
  if (bytes_per_s < 999.5e3) return three_digits(bytes_per_s / 1e3) + " kB/s";
  return three_digits(bytes_per_s / 1e6) + " MB/s";
}

std::string counted(std::uint64_t number, std::string_view noun) {
  if (number != 1 && noun.ends_with("ry"))
    return fmt::format("{} {}ies", number, noun.substr(0, noun.size() - 1));
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

void print_to_stderr(const std::string& text) noexcept {
  try {
    const std::string shown = in_locale(text);
    std::fwrite(shown.data(), 1, shown.size(), stderr);
  } catch (const std::bad_alloc&) {
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
}

std::string join(std::span<const std::string> words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (&word != &words.front()) text += separator;
    text += word;
  }
  return text;
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    constexpr std::size_t kShort = 4;  // two changes make any short word of another
    const std::size_t distance = edit_distance(word, candidate);
    const bool too_short = distance > 1 && std::max(word.size(), candidate.size()) <= kShort;
    if (distance < least && !too_short) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string grouped(std::uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string format_rate(double rate) {
  return rate == std::round(rate) && rate < 1e15 ? grouped(static_cast<std::uint64_t>(rate))
                                                 : fmt::format("{:.6g}", rate);
}

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

}  // namespace joust

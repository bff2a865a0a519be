// SPDX-License-Identifier: MIT
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

namespace joust {

void refuse(std::string_view where, const std::string& what) {
  throw std::invalid_argument(fmt::format("{}: {}", where, what));
}

void refuse_option(std::string_view option, const std::string& what) {
  refuse(fmt::format("--{}", option), what);
}

namespace {

struct Scale {
  std::string_view name;
  double factor;
};

constexpr std::array kCountUnits{Scale{"", 1}, Scale{"k", 1e3}, Scale{"M", 1e6}, Scale{"G", 1e9}};
// A size may also leave the B out.
constexpr std::array kByteUnits{Scale{"B", 1},        Scale{"kB", 1e3},     Scale{"MB", 1e6},
                                Scale{"GB", 1e9},     Scale{"TB", 1e12},    Scale{"KiB", 0x1p10},
                                Scale{"MiB", 0x1p20}, Scale{"GiB", 0x1p30}, Scale{"TiB", 0x1p40}};
constexpr std::array kTimeUnits{Scale{"ns", 1},  Scale{"us", 1e3}, Scale{"ms", 1e6},
                                Scale{"s", 1e9}, Scale{"m", 60e9}, Scale{"h", 3600e9}};

std::string unit_names(std::span<const Scale> units) {
  std::string names;
  for (const Scale& unit : units)
    if (!unit.name.empty()) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names;
}

// Reads a non-negative decimal number and one of `units`, which may lack the end `optional`. Returns it in
// the smallest unit.
std::expected<double, std::string> parse_scaled(std::string_view text, std::span<const Scale> units,
                                                std::string_view example, std::string_view optional = "") {
  double number = 0;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error == std::errc{} && text.starts_with('-'))
    return std::unexpected(fmt::format("'{}' is negative (write it like {})", text, example));
  // from_chars also takes "inf" and "nan".
  if (error != std::errc{} || !std::isfinite(number))
    return std::unexpected(fmt::format("'{}' is not a number (write it like {})", text, example));
  const std::string_view suffix(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  const auto unit = std::ranges::find_if(units, [&](const Scale& known) {
    return suffix == known.name ||
           (known.name.ends_with(optional) && suffix.size() + optional.size() == known.name.size() &&
            known.name.starts_with(suffix));
  });
  if (unit == units.end() && !(number == 0 && suffix.empty()))
    return std::unexpected(
        suffix.empty() ? fmt::format("'{}' has no unit (write it like {})", text, example)
                       : fmt::format("'{}' has no unit joust knows; there are: {}", text, unit_names(units)));
  const double value = unit == units.end() ? 0 : number * unit->factor;
  if (value > 9.0e18) return std::unexpected(fmt::format("'{}' {}", text, kTooLarge));
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

// Formats with three digits. The limits are the values above which rounding would give a fourth digit.
std::string three_digits(double value) {
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
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
  return whole(parse_scaled(text, kByteUnits, "64, 16KiB or 1M", "B"), text);
}

std::expected<Duration, std::string> parse_duration(std::string_view text) {
  const auto nanoseconds = parse_scaled(text, kTimeUnits, "500us, 10ms or 30s");
  if (!nanoseconds) return std::unexpected(nanoseconds.error());
  return Duration(static_cast<std::int64_t>(std::round(*nanoseconds)));
}

std::expected<double, std::string> parse_percent(std::string_view text) {
  static constexpr std::array kUnits{Scale{"%", 1}, Scale{" %", 1}};
  const auto percent = parse_scaled(text, kUnits, "3% or 0.5%");
  if (!percent) return percent;
  if (*percent <= 0 || *percent >= 100)
    return std::unexpected(fmt::format("'{}' is not above 0 % and below 100 %", text));
  return *percent / 100;
}

std::expected<double, std::string> parse_ratio(std::string_view text) {
  static constexpr std::array kUnits{Scale{"", 1}};
  const auto ratio = parse_scaled(text, kUnits, "0.97");
  if (ratio && *ratio >= 0.01 && *ratio <= 10) return ratio;
  return std::unexpected(fmt::format(
      "'{}' is not a ratio between 0.01 and 10 (write 0.97 for 3 % less, 1.03 for 3 % more)", text));
}

std::string format_duration(Duration time) {
  return format_ns(static_cast<double>(time.count()));
}

std::string format_ns(double nanoseconds) {
  const double ns = std::round(nanoseconds);
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
  using Units = std::array<std::pair<std::uint64_t, std::string_view>, 4>;
  static constexpr Units kBinary{
      {{1ULL << 40, "TiB"}, {1ULL << 30, "GiB"}, {1ULL << 20, "MiB"}, {1ULL << 10, "KiB"}}};
  static constexpr Units kDecimal{
      {{1'000'000'000'000, "TB"}, {1'000'000'000, "GB"}, {1'000'000, "MB"}, {1000, "kB"}}};
  const auto largest = [bytes](const Units& units) {
    return std::ranges::find_if(units, [bytes](const auto& unit) { return bytes % unit.first == 0; });
  };
  const auto binary = largest(kBinary), decimal = largest(kDecimal);
  const bool is_decimal =
      decimal != kDecimal.end() && binary != kBinary.end() && bytes / decimal->first < bytes / binary->first;
  if (bytes > 0 && binary != kBinary.end() && !is_decimal)
    return fmt::format("{} {}", bytes / binary->first, binary->second);
  return format_data(static_cast<double>(bytes));
}

std::string format_speed(double bytes_per_s) {
  if (bytes_per_s < 999.5) return fmt::format("{:.0f} B/s", bytes_per_s);
  if (bytes_per_s < 999.5e3) return three_digits(bytes_per_s / 1e3) + " kB/s";
  return three_digits(bytes_per_s / 1e6) + " MB/s";
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

std::expected<DurationRange, std::string> parse_duration_range(std::string_view text) {
  constexpr std::string_view kTo = "..";
  const std::size_t to = text.find(kTo);
  const auto least = parse_duration(text.substr(0, to));
  if (!least) return std::unexpected(least.error());
  if (to == std::string_view::npos) return DurationRange{*least, *least};
  const auto most = parse_duration(text.substr(to + kTo.size()));
  if (!most) return std::unexpected(most.error());
  if (*most < *least)
    return std::unexpected(fmt::format("{}: the second time is the longer one (50ms..1s)", text));
  return DurationRange{*least, *most};
}

std::string duration_word(Duration time) {
  constexpr std::array kUnits{std::pair{1'000'000'000LL, "s"}, std::pair{1'000'000LL, "ms"},
                              std::pair{1'000LL, "us"}};
  for (const auto& [factor, unit] : kUnits)
    if (time.count() % factor == 0) return fmt::format("{}{}", time.count() / factor, unit);
  return fmt::format("{}ns", time.count());
}

std::string range_word(const DurationRange& range) {
  return duration_word(range.least) + ".." + duration_word(range.most);
}

}  // namespace joust

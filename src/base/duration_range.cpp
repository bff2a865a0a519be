// SPDX-License-Identifier: MIT
#include "base/duration_range.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/units.hpp"

namespace joust {

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

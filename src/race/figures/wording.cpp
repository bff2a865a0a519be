// SPDX-License-Identifier: MIT
#include "race/figures/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace joust::race {

std::string ratio_words(double ratio, int decimals) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return "not known";
  const int before_point = static_cast<int>(std::floor(std::log10(ratio)));  // -3: 0.001 to 0.01
  if (before_point < 0) return fmt::format("{:.{}f}", ratio, std::max(decimals, 1 - before_point));
  return fmt::format("{:.{}f}", ratio, std::max(0, decimals - before_point));
}

std::string interval_words(const stats::Interval& interval, int decimals) {
  constexpr double kFactor = 10;
  if (!interval.is_known() || (interval.low < 1 / kFactor && interval.high > kFactor)) return "not known";
  return fmt::format("{} to {}", ratio_words(interval.low, decimals), ratio_words(interval.high, decimals));
}

std::string ratio_with_interval(const stats::Ratio& ratio, int decimals, std::string_view of) {
  return fmt::format("{}{} ({})", ratio_words(ratio.estimate, decimals), of,
                     interval_words(ratio.interval, decimals));
}

std::string percent(double fraction, int decimals) {
  return fmt::format("{:.{}f} %", fraction * 100, decimals);
}

std::string spread_text(double fraction, int decimals) {
  return fraction > 1 ? "more than 100 %" : percent(fraction, decimals);
}

std::string in_list(const std::string& name) {
  return name.find(',') == std::string::npos ? name : fmt::format("'{}'", name);
}

}  // namespace joust::race

// SPDX-License-Identifier: MIT
#include "race/judgement/wording.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"

namespace joust::race {

std::string not_allowed(std::string_view problem, std::string_view word,
                        std::span<const std::string> allowed) {
  std::string text = fmt::format("{}; allowed: {}", problem, allowed.empty() ? "nothing" : join(allowed));
  if (const std::string meant = nearest(word, allowed); !meant.empty() && meant != word)
    text += fmt::format("; did you mean '{}'?", meant);
  return text;
}

std::string share_words(const Loss& loss) {
  if (loss.lost == 0 || loss.of == 0) return "0 %";
  const double percent = 100 * static_cast<double>(loss.lost) / static_cast<double>(loss.of);
  const int decimals = percent >= 10 ? 0 : 1 - static_cast<int>(std::floor(std::log10(percent)));
  std::string text = fmt::format("{:.{}f}", percent, decimals);
  while (text.find('.') != std::string::npos && (text.back() == '0' || text.back() == '.')) text.pop_back();
  return text + " %";
}

std::string lost_words(const Loss& loss) {
  return fmt::format("lost {} of its messages", share_words(loss));
}

std::string interval_words(const stats::Interval& interval, int digits) {
  constexpr double kShown = 100;
  return fmt::format("{:.{}f} to {}", interval.low, digits,
                     interval.high < kShown ? fmt::format("{:.{}f}", interval.high, digits)
                                            : fmt::format(">{}", kShown));
}

}  // namespace joust::race

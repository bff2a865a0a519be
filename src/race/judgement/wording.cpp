// SPDX-License-Identifier: MIT
#include "race/judgement/wording.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace joust::race {

std::string not_allowed(std::string_view problem, std::string_view word,
                        std::span<const std::string> allowed) {
  std::string text = fmt::format("{}; allowed: {}", problem, allowed.empty() ? "nothing" : join(allowed));
  if (const std::string meant = nearest(word, allowed); !meant.empty() && meant != word)
    text += fmt::format("; did you mean '{}'?", meant);
  return text;
}

std::string interval_words(const stats::Interval& interval, int digits) {
  constexpr double kShown = 100;
  return fmt::format("{:.{}f} to {}", interval.low, digits,
                     interval.high < kShown ? fmt::format("{:.{}f}", interval.high, digits)
                                            : fmt::format(">{}", kShown));
}

std::string in_list(const std::string& name) {
  return name.find(',') == std::string::npos ? name : fmt::format("'{}'", name);
}

}  // namespace joust::race

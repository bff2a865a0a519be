// SPDX-License-Identifier: MIT
#include "race/model/loss.hpp"

#include <fmt/format.h>

#include <cmath>

namespace joust::race {

// A request whose reply came too late for the load may still have been delivered.
std::optional<Loss> loss_of(const LoadResult& load) {
  if (!load.lossy) return std::nullopt;
  const auto delivery = [&](const char* what) {
    return static_cast<std::uint64_t>(load.number("deliveries", what).value_or(0));
  };
  const Loss deliveries{.lost = delivery("lost"), .of = delivery("expected")};
  if (deliveries.lost > 0 || (deliveries.of > 0 && load.messages.lost == 0)) return deliveries;
  return Loss{.lost = load.messages.lost, .of = load.messages.sent};
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

}  // namespace joust::race

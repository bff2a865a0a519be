// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <ctime>
#include <string>

namespace joust {

// Formats a time since 1970 in UTC, as programs read it: "2026-01-31T09:30:00Z".
inline std::string utc_text(std::chrono::nanoseconds since_1970) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(since_1970).count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace joust

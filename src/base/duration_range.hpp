// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "joust/time.hpp"

namespace joust {

// From `least` to `most`, which is not less.
struct DurationRange {
  Duration least, most;
  bool operator==(const DurationRange&) const = default;
};

// "50ms..1s", or "50ms" for both. The error says what is wrong.
std::expected<DurationRange, std::string> parse_duration_range(std::string_view text);

// "50ms..1s" as exact words of a command line.
std::string range_word(const DurationRange& range);

// "300ms": the largest unit without a fraction.
std::string duration_word(Duration time);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "joust/time.hpp"

namespace joust {

// A range of durations. `most` is not less than `least`.
struct DurationRange {
  Duration least, most;
  bool operator==(const DurationRange&) const = default;
};

// Reads a range: "50ms..1s", or "50ms" for both ends. The error names the mistake.
std::expected<DurationRange, std::string> parse_duration_range(std::string_view text);

// Formats a range as exact words of a command line: "50ms..1s".
std::string range_word(const DurationRange& range);

// Formats a duration in the largest unit without a fraction: "300ms".
std::string duration_word(Duration time);

}  // namespace joust

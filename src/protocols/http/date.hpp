// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "joust/time.hpp"

// Dates in the formats of RFC 9110, 5.6.7, and numbers of seconds since 1970.
namespace joust::http {

inline constexpr std::size_t kDateSize = 29;  // "Sun, 06 Nov 1994 08:49:37 GMT"

// Formats a date. Dates before 1970 and after 9999 become the nearest that can be written.
std::string date_text(std::int64_t seconds);

// Formats a date as "2026-10-23 08:53", for people, with the same limits.
std::string short_date_text(std::int64_t seconds);

// Parses all three formats that a server must read. A year of two digits means the one within 50 years after
// `now_s`, or before it.
std::optional<std::int64_t> parse_date(std::string_view text, std::int64_t now_s);

// The time of day for replies. Sessions pass their own time, and once a second the clock of the machine is
// read. All methods: any thread; each thread keeps its own date, so none waits for another.
class DateClock {
 public:
  using WallClock = std::int64_t (*)();  // nanoseconds since 1970

  explicit DateClock(WallClock clock);

  struct Date {
    std::int64_t seconds;
    std::string_view text;  // valid until the next call on this thread
  };
  Date at(Time now) const;

 private:
  const WallClock clock_;
  const std::uint64_t number_;  // number of this object, among all that have existed
};

}  // namespace joust::http

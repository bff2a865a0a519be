// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "joust/time.hpp"

namespace joust {

// Throw std::invalid_argument for a value of the user's: "--status: '9xx' is no list of statuses".
// `where`: as people write it, `option`: without the dashes.
[[noreturn]] void refuse(std::string_view where, const std::string& what);
[[noreturn]] void refuse_option(std::string_view option, const std::string& what);

// Numbers, times and sizes in the notation of a command line and a scenario.

// The end of the errors below about a number beyond every limit.
inline constexpr std::string_view kTooLarge = "is too large";

// Reads "300", "10k", "1.5M": SI multiples of 1000 (k, M, G). The result must be a whole number. The error
// names the mistake.
std::expected<std::uint64_t, std::string> parse_count(std::string_view text);

// Reads "5k", "0.5", with the same multiples: any number from 0.001 to 1e9.
std::expected<double, std::string> parse_rate(std::string_view text);

// Reads "64", "64k", "64KiB", "1MiB": k, M, G, T are 1000s and Ki, Mi, Gi, Ti 1024s; a final B is optional.
// Whole bytes only.
std::expected<std::uint64_t, std::string> parse_bytes(std::string_view text);

// Reads "500us", "10ms", "30s", "2m": the unit is required, except for 0.
std::expected<Duration, std::string> parse_duration(std::string_view text);

// Reads "3%", "0.5%" as a fraction above 0 and below 1.
std::expected<double, std::string> parse_percent(std::string_view text);

// Reads "0.97", a ratio from 0.01 to 10.
std::expected<double, std::string> parse_ratio(std::string_view text);

std::string format_duration(Duration time);  // "1.25 ms"; three significant digits
std::string format_ns(double nanoseconds);   // the same of a statistic
std::string format_count(double count);      // "106k", "1.20M"

// Formats of bytes. Memory has powers of 1024. Data that is moved or stored has powers of 1000, as its speed
// does. A size that was asked for is shown as it was probably written: whole KiB, MiB or GiB, or else, or if
// that is the smaller number, as data.
std::string format_bytes(double bytes);        // for memory: "4.02 MiB"
std::string format_data(double bytes);         // "4.22 MB"
std::string format_size(std::uint64_t bytes);  // "64 KiB", "16.0 kB"

std::string format_rate(double rate);          // "5,000", "0.5": exact
std::string format_speed(double bytes_per_s);  // "612 MB/s", "85.4 kB/s"

// Formats a count exactly: "1,548,250".
std::string grouped(std::uint64_t number);

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

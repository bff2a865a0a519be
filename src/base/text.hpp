// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "joust/time.hpp"

// Numbers, times and sizes as people write them on a command line and in a scenario.
namespace joust {

// "300", "10k", "1.5M": SI multiples of 1000 (k, M, G), which must come to a whole number. The error says
// what was wrong.
std::expected<std::uint64_t, std::string> parse_count(std::string_view text);

// "5k", "0.5": the same multiples; any number from 0.001 to 1e9.
std::expected<double, std::string> parse_rate(std::string_view text);

// "64", "64k", "64KiB", "1MiB": k, M, G, T are 1000s and Ki, Mi, Gi, Ti 1024s; a final B is optional. Whole
// bytes only.
std::expected<std::uint64_t, std::string> parse_bytes(std::string_view text);

// "500us", "10ms", "30s", "2m": the unit is required, except for 0.
std::expected<Duration, std::string> parse_duration(std::string_view text);

std::string format_duration(Duration time);  // "1.25 ms"; three significant digits
std::string format_count(double count);      // "106k", "1.20M"

// Memory is counted in powers of 1024, and data that is moved or stored in powers of 1000, as its speed is. A
// size that was asked for is shown as people write it: whole KiB, MiB or GiB, or else as data.
std::string format_bytes(double bytes);        // of memory: "4.02 MiB"
std::string format_data(double bytes);         // "4.22 MB"
std::string format_size(std::uint64_t bytes);  // "64 KiB", "16.0 kB"

std::string format_rate(double rate);          // "5,000", "0.5": exact
std::string format_speed(double bytes_per_s);  // "612 MB/s", "85.4 kB/s"

// "1,548,250": exact, for counts.
std::string grouped(std::uint64_t number);

// True if a terminal would obey a part of this UTF-8 text: C0, DEL or C1.
bool has_control(std::string_view text);
// The length of the UTF-8 sequence that begins here, or 0 if it is invalid: stray, overlong or truncated, a
// surrogate, or beyond U+10FFFF (Unicode 15, table 3-7). The text is not empty.
std::size_t utf8_sequence(std::string_view text);
// The text of a stranger for a terminal. The bytes of control characters, of those that turn the direction of
// writing around, and those that are not UTF-8 become \xHH, and a backslash becomes two, so that no two texts
// look alike. Characters in `kept` stay.
std::string printable(std::string_view text, std::string_view kept = {});

// "3%", "0.5%": a fraction above 0 and below 1.
std::expected<double, std::string> parse_percent(std::string_view text);

// "1 round", "2 rounds", "2 retries"
std::string counted(std::uint64_t number, std::string_view noun);

// To standard error, as the locale can show it. A pipe that nobody reads any more is no reason to end, so
// errors are passed over.
void print_to_stderr(const std::string& text) noexcept;

// "a, b, c". fmt::join() would do the same, and be compiled anew in every file that calls it.
std::string join(std::span<const std::string> words, std::string_view separator = ", ");

// The candidate nearest to `word` by edit distance, or empty when none is near enough to be meant.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// "what is wrong; allowed: a, b; did you mean 'b'?", for a word that is not one of those allowed.
std::string not_allowed(std::string_view problem, std::string_view word,
                        std::span<const std::string> allowed);

// "did you mean 'epoll'?", or, where none is near, "there are: null, threads, epoll".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace joust

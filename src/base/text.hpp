// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "joust/time.hpp"

// Numbers, times and sizes in the notation of a command line and a scenario.
namespace joust {

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

std::string format_duration(Duration time);  // "1.25 ms"; three significant digits
std::string format_count(double count);      // "106k", "1.20M"

// Formats of bytes. Memory has powers of 1024. Data that is moved or stored has powers of 1000, as its speed
// does. A size that was asked for is shown as it was probably written: whole KiB, MiB or GiB, or else as
// data.
std::string format_bytes(double bytes);        // for memory: "4.02 MiB"
std::string format_data(double bytes);         // "4.22 MB"
std::string format_size(std::uint64_t bytes);  // "64 KiB", "16.0 kB"

std::string format_rate(double rate);          // "5,000", "0.5": exact
std::string format_speed(double bytes_per_s);  // "612 MB/s", "85.4 kB/s"

// Formats a count exactly: "1,548,250".
std::string grouped(std::uint64_t number);

// Returns true if a terminal would obey a part of this UTF-8 text: C0, DEL or C1.
bool has_control(std::string_view text);
// Returns the length of the UTF-8 sequence at the beginning of the text, or 0 if it is invalid: stray,
// overlong or truncated, a surrogate, or beyond U+10FFFF (Unicode 15, table 3-7). The text is not empty.
std::size_t utf8_sequence(std::string_view text);
// Returns untrusted text in a safe form for a terminal. The bytes of control characters, of characters that
// change the direction of writing, and bytes that are not UTF-8 become \xHH. A backslash becomes two, so that
// no two texts look alike. Characters in `kept` stay.
std::string printable(std::string_view text, std::string_view kept = {});

// Reads "3%", "0.5%" as a fraction above 0 and below 1.
std::expected<double, std::string> parse_percent(std::string_view text);

// Formats a number with its noun: "1 round", "2 rounds", "2 retries".
std::string counted(std::uint64_t number, std::string_view noun);

// Writes to standard error, in a form that the locale can show. A closed pipe is no reason to end, so errors
// are ignored.
void print_to_stderr(const std::string& text) noexcept;

// Joins words: "a, b, c". fmt::join() would do the same, but be compiled anew in every file that calls it.
std::string join(std::span<const std::string> words, std::string_view separator = ", ");

// Returns the candidate nearest to `word` by edit distance, or empty when none is near enough to be meant.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// Describes a word that is not allowed: "what is wrong; allowed: a, b; did you mean 'b'?".
std::string not_allowed(std::string_view problem, std::string_view word,
                        std::span<const std::string> allowed);

// Returns "did you mean 'epoll'?" or, where no candidate is near, "there are: null, threads, epoll".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace joust

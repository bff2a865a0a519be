// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace joust {

// Formats a number with its noun: "1 round", "2 rounds", "2 retries".
std::string counted(std::uint64_t number, std::string_view noun);

// Joins words: "a, b, c". fmt::join() would do the same, but be compiled anew in every file that calls it.
std::string join(std::span<const std::string> words, std::string_view separator = ", ");

// Returns the parts of a list, including empty ones: one more than it has separators.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// UTF-8 text in a form that is safe to show on a terminal.

// Returns true if a terminal would obey a part of this UTF-8 text: C0, DEL or C1.
bool has_control(std::string_view text);
// Returns the length of the UTF-8 sequence at the beginning of the text, or 0 if it is invalid: stray,
// overlong or truncated, a surrogate, or beyond U+10FFFF (Unicode 15, table 3-7). The text is not empty.
std::size_t utf8_sequence(std::string_view text);
// Returns untrusted text in a safe form for a terminal. The bytes of control characters, of characters that
// change the direction of writing, and bytes that are not UTF-8 become \xHH. A backslash becomes two, so that
// no two texts look alike. Characters in `kept` stay.
std::string printable(std::string_view text, std::string_view kept = {});

// Messages about a word that is not known, with the known word that was probably meant.

// Returns the candidate that was probably meant by `word`: the only one that begins so, else the nearest by
// edit distance. Empty where none is near enough.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// Describes a word that is not allowed: "what is wrong; allowed: a, b; did you mean 'b'?".
std::string not_allowed(std::string_view problem, std::string_view word,
                        std::span<const std::string> allowed);

// Returns "did you mean 'epoll'?" or, where no candidate is near, "there are: null, threads, epoll".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

// Returns what an exception says, in words for people: the texts of the standard library and of the JSON
// library begin with names of their own ("std::bad_alloc", "filesystem error: ...", "[json.exception...]"),
// which say nothing to users. Other texts are returned as they are.
std::string words_of(const std::exception& error);

// Returns why a text must not be parsed as TOML: a line has so many dots that they may be those of one key
// (a.b.c), and the parser, which calls itself for each part of a key, would use up the stack. Empty if it may
// be.
std::string toml_objection(std::string_view text);

// Returns what the parser says of an error at this line and column of the text, from 1 on, in words for
// people: the parser calls a quote that is missing at the end of a line a control character.
std::string toml_error(std::string_view text, std::size_t line, std::size_t column, std::string_view words);

}  // namespace joust

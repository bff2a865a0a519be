// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

// Messages about a word that is not known, with the known word that was probably meant.
namespace joust {

// Returns the candidate that was probably meant by `word`: the only one that begins so, else the nearest by
// edit distance. Empty where none is near enough.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// Describes a word that is not allowed: "what is wrong; allowed: a, b; did you mean 'b'?".
std::string not_allowed(std::string_view problem, std::string_view word,
                        std::span<const std::string> allowed);

// Returns "did you mean 'epoll'?" or, where no candidate is near, "there are: null, threads, epoll".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace joust

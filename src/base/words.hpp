// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace joust {

// Formats a number with its noun: "1 round", "2 rounds", "2 retries".
std::string counted(std::uint64_t number, std::string_view noun);

// Joins words: "a, b, c". fmt::join() would do the same, but be compiled anew in every file that calls it.
std::string join(std::span<const std::string> words, std::string_view separator = ", ");

}  // namespace joust

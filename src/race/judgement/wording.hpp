// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace joust::race {

// "what is wrong; allowed: a, b; did you mean 'b'?", used for every invalid word.
std::string not_allowed(std::string_view problem, std::string_view word,
                        std::span<const std::string> allowed);

}  // namespace joust::race

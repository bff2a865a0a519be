// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace joust {

// Returns the option that was meant by `word`, such as "--rouds" or "--rouds=5": the only option that begins
// so, the nearest one, or the one with the same meaning under its name in other programs. `options` are those
// of the command, with their dashes. Empty where no option is near.
std::string meant_option(std::string_view word, std::span<const std::string> options);

}  // namespace joust

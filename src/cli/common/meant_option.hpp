// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace joust {

// The option that somebody means who writes `word`, "--rouds" or "--rouds=5": the only one that begins so,
// the nearest one, or the one of the same meaning where other programs call it so. `options` are those of the
// command, with their dashes. Empty where nothing is near.
std::string meant_option(std::string_view word, std::span<const std::string> options);

}  // namespace joust

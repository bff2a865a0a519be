// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

namespace joust {

inline constexpr std::size_t kLongestName = 1024;      // bytes
inline constexpr std::size_t kLongestComponent = 255;  // bytes

// Files in the making begin like this; no peer may name one.
inline constexpr std::string_view kTemporaryPrefix = ".joust-";

// Why a name that came from a peer is refused; empty when it is fine. A pure function of the name: whether
// there is such a file, and whether links lead out of the directory, is Directory's matter.
std::string_view objection_to(std::string_view name);

// "a/b/c" as its parts.
std::vector<std::string_view> components(std::string_view name);

}  // namespace joust

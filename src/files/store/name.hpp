// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace joust {

inline constexpr std::size_t kLongestName = 1024;      // bytes
inline constexpr std::size_t kLongestComponent = 255;  // bytes

// The prefix of files that have no name yet; peers must not use it.
inline constexpr std::string_view kTemporaryPrefix = ".joust-";

// Returns the reason why a name from a peer is refused; empty if the name is valid. Depends on the name only:
// Directory checks whether the file exists, and whether links lead out of the directory.
std::string_view objection_to(std::string_view name);

// Returns the parts of "a/b/c".
std::vector<std::string_view> components(std::string_view name);

// The parts "a/b" and "c" of "a/b/c". The first is empty if the name has one part.
struct SplitName {
  std::string_view folder, last;
};
SplitName split_name(std::string_view name);

// Returns "a/b" for "a" and "b"; either may be empty.
std::string joined(std::string_view folder, std::string_view name);

}  // namespace joust

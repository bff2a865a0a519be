// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

#include "load/result.hpp"

namespace joust {

// The load of one of several hosts, or one of several processes: a part of one load.
struct LoadPart {
  std::string name{};
  LoadResult result{};
};

// Returns the parts as one result. Counts are added, histograms bucket by bucket. The window is as long as
// the longest one, and begins and ends with that of the first part, because each host has a clock of its own.
// The peaks of memory are added. Of the figures of protocols only counts are kept, because only those can be
// added. REQUIRES: at least one part.
LoadResult merged(std::span<const LoadPart> parts);

// Returns why these are no parts of one load: their plans differ in more than connections, rate and seed.
// Empty if they are.
std::string why_no_parts(const LoadPart& one, const LoadPart& other);

}  // namespace joust

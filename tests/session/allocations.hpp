// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace joust {

// The largest piece of memory this program has asked for since the last call.
std::size_t largest_allocation_since();

// How many pieces of memory this program has asked for so far.
std::size_t allocations();

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace joust {

// The largest piece of memory this program has asked for since the last call.
std::size_t largest_allocation_since();

}  // namespace joust

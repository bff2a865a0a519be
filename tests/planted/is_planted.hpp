// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace joust {

// Returns whether the program has the fault of that name in faults.py: the one that JOUST_PLANTED names.
bool is_planted(std::string_view fault);

}  // namespace joust

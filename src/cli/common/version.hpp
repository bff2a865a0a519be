// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/common/command.hpp"

namespace joust {

// Returns "joust 0.3.0 (abc1234)" or, for another program, "calculator (joust 0.3.0, abc1234)". The commit is
// left out where the sources were no checkout.
std::string version_of(const Program& program);

}  // namespace joust

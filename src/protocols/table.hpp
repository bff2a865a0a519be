// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "joust/protocol.hpp"

namespace joust {

// Every protocol of the joust program, in the order of `joust protocols`.
std::vector<Protocol> builtin_protocols();

}  // namespace joust

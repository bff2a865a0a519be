// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "joust/protocol.hpp"

namespace joust {

// Every protocol of the joust program, in the order they are listed.
std::vector<Protocol> builtin_protocols();

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

#include "connection/account.hpp"

namespace joust {

// Returns how many connections beyond this limit a server with an account may have until those that give way
// have ended: few if the limit is small.
inline std::size_t spare_places(std::size_t connections) {
  return std::min(Account::kSpare, connections / 8 + 1);
}

}  // namespace joust

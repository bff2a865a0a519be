// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>

namespace joust {

// Returns whether a call was refused with this errno because the machine is short of descriptors or of
// memory. Such a call may succeed later.
constexpr bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace joust

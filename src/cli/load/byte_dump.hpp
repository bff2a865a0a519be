// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "joust/bytes.hpp"

namespace joust {

// Shows bytes as hexadecimal digits and as text, 16 in a line, each line with the number of its first byte.
// Long messages are cut, with the number of the bytes that are left out.
std::string byte_dump(Bytes bytes);

}  // namespace joust

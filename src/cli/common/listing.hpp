// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace joust {

// Formats rows under headings in aligned columns, each line ending with a newline. Control characters in a
// cell become \xHH.
std::string columns(std::vector<std::vector<std::string>> rows);

}  // namespace joust

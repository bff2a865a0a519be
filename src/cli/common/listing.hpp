// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace joust {

// Formats rows under headings in aligned columns, each line ending with a newline.
std::string columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace joust

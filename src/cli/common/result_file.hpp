// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace joust {

// The file of --json FILE. Both throw std::runtime_error that names it.

// Before measuring, so that nobody finds out with a result in hand. What the file holds stays until it is
// replaced.
void ensure_writable(const std::string& path);

void write_result(const std::string& path, std::string_view text);

}  // namespace joust

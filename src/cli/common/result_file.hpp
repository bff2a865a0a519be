// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace joust {

// The file of --json FILE. Both throw std::runtime_error that names it.

// Before measuring, so that nobody finds out with a result in hand.
void ensure_writable(const std::string& path);

// Whole or not at all: what the file held before stays until all of the new text is beside it.
void write_result(const std::string& path, std::string_view text);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace joust {

// The file of --json FILE. What both throw names it.

// Called before measuring. `used`: files that the run reads or writes itself. Throws UsageError if `path` is
// one of them, or empty, or cannot be written.
void ensure_writable(const std::string& path, std::span<const std::string> used);

// Whole or not at all: what the file held before stays until all of the new text is beside it. Throws
// std::runtime_error.
void write_result(const std::string& path, std::string_view text);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace joust {

// The file of --json FILE. Both throw std::runtime_error that names it.

// Called before measuring. `used`: files that the run reads or writes itself; UsageError if `path` is one of
// them, or empty.
void ensure_writable(const std::string& path, std::span<const std::string> used);

// Whole or not at all: what the file held before stays until all of the new text is beside it.
void write_result(const std::string& path, std::string_view text);

}  // namespace joust

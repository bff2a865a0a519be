// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace joust {

// The file of --json FILE. A link stays one: what it leads to is written, also where that is not there yet.

// Called before measuring. `used`: files that the run reads or writes itself. Throws UsageError, which names
// the file, if `path` is one of them, or empty, or cannot be written.
void ensure_writable(const std::string& path, std::span<const std::string> used);

// Whole or not at all: what the file held before stays until all of the new text is beside it. A file that
// cannot be replaced is written in place: one that is mounted by itself, as into a container, or whose
// directory takes no new names. Throws std::runtime_error.
void write_result(const std::string& path, std::string_view text);

// The same for what was measured and must not be lost: where the file cannot be written any more, the text
// goes to a new file in the directory of temporary files, or else to standard error. Returns what happened
// then, in words; empty if all is well.
std::string keep_result(const std::string& path, std::string_view text);

}  // namespace joust

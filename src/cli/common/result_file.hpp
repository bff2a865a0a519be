// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "history/merging.hpp"

namespace joust {

inline constexpr std::string_view kJsonOption = "--json";

// Functions for the file of --json FILE, or of another `option`, which messages name. A link stays a link:
// its target is written, also if it does not exist yet.

// Checks the file before measuring. `used`: files that the run reads or writes itself. Throws UsageError,
// which names the file, if `path` is one of them, or empty, or cannot be written.
void ensure_writable(const std::string& path, std::span<const std::string> used,
                     std::string_view option = kJsonOption);

// Writes the file as a whole or not at all: its old content stays until all of the new text is in a file
// beside it. A file that cannot be replaced is written in place: one that is mounted by itself, as into a
// container, or whose directory takes no new names. Throws std::runtime_error.
void write_result(const std::string& path, std::string_view text, std::string_view option = kJsonOption);

// Writes a measured result that must not be lost. If the file cannot be written any more, the text goes to a
// new file in the directory of temporary files, or else to standard error. Returns a description of that in
// words; empty if the file was written.
std::string keep_result(const std::string& path, std::string_view text);

// Reads a result from a file, or, where there is no such file, from the history by its tag or number. Its
// name is the one given. Throws UsageError.
history::NamedDocument read_stored_result(const std::string& file_or_name);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

// Functions for the kernel's small text files: /proc, /sys, tracefs. Their size is not known before they are
// read.
namespace joust {

// Return the whole file, or nothing when it cannot be opened or read. `directory` is the start of a relative
// path.
std::optional<std::string> read_proc_file(const std::string& path);
std::optional<std::string> read_proc_file_at(int directory, const std::string& path);

// Returns the rest of the line that begins with `key`, without surrounding blanks: "VmHWM:" -> "1024 kB".
std::optional<std::string_view> field_of(std::string_view text, std::string_view key);

// Returns the text without blanks and line ends around it.
std::string_view trimmed(std::string_view text);

// Returns the decimal number that `text` begins with, or 0.
unsigned long long leading_number(std::string_view text);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

// The kernel's small text files: /proc, /sys, tracefs. Their size is not known before they are read.
namespace joust {

// The whole file, or nothing when it cannot be opened or read. `directory` is where a relative path starts.
std::optional<std::string> read_proc_file(const std::string& path);
std::optional<std::string> read_proc_file_at(int directory, const std::string& path);

// The rest of the line that begins with `key`, without surrounding blanks: "VmHWM:" -> "1024 kB".
std::optional<std::string_view> field_of(std::string_view text, std::string_view key);

// Without blanks and line ends around it.
std::string_view trimmed(std::string_view text);

// The decimal number `text` begins with, or 0.
unsigned long long leading_number(std::string_view text);

}  // namespace joust

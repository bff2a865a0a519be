// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>

namespace joust {

// Returns the content of a file that is the value of an option, at most 16 MiB. An error says why it cannot
// be read.
std::expected<std::string, std::string> value_of_file(const std::string& path);

}  // namespace joust

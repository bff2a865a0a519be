// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>

#include "files/transfer/source_files.hpp"

namespace joust {

// Returns standard input as a file that is sent under this name. A regular file is sent as it is. Other input
// is read to its end into a nameless file of the temporary directory, because its size and digest come before
// its bytes. The error, for people, reports that standard input is closed. Throws std::runtime_error if it
// cannot be read or kept.
std::expected<transfer::SourceList, std::string> standard_input(const std::string& name);

}  // namespace joust

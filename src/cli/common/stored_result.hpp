// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "history/merging.hpp"

namespace joust {

// Reads a result from a file, or, where there is no such file, from the history by its tag or number. Its
// name is the one given. Throws UsageError.
history::NamedDocument read_stored_result(const std::string& file_or_name);

}  // namespace joust

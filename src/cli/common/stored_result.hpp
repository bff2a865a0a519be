// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/page/document.hpp"

namespace joust {

// The document of a race, with the name that messages give it.
struct StoredResult {
  std::string name;
  report::page::Document document;
};

// Reads a whole file, up to the size of any result. Throws UsageError.
std::string whole_file(const std::string& path);

// Reads a result from a file, or, where there is no such file, from the history by its tag or number. Throws
// UsageError.
StoredResult read_stored_result(const std::string& file_or_name);

}  // namespace joust

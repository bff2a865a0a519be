// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace joust {

// Returns why dlopen(3) may not have this file: it is an ELF file that ends before the segments or the table
// of sections that its header names. The loader would map what is missing, and the first access to it ends
// the program by SIGBUS. Empty for all other files, also for those that cannot be read: dlopen() says what is
// wrong with them.
std::string missing_of_library(const std::string& path);

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "load/result.hpp"

namespace joust {

// What a load came to, for people: a block of lines that ends with a newline.
std::string load_text(const LoadResult& result);

}  // namespace joust

// SPDX-License-Identifier: MIT
#include "cli/common/output.hpp"

#include <cstdio>

namespace joust {

void print_out(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw OutputError();
}

}  // namespace joust

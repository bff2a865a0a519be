// SPDX-License-Identifier: MIT
#include "cli/common/output.hpp"

#include <cstdio>

#include "base/terminal.hpp"

namespace joust {

void print_out(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw OutputError();
}

void print_text(const std::string& text) {
  print_out(in_locale(text));
}

void try_print_out(const std::string& text) {
  try {
    print_out(text);
  } catch (const OutputError&) {
    // The stream remembers it.
  }
}

bool output_is_lost() {
  return std::ferror(stdout) != 0;
}

}  // namespace joust

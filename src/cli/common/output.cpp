// SPDX-License-Identifier: MIT
#include "cli/common/output.hpp"

#include <cerrno>
#include <cstdio>

#include "base/printable.hpp"
#include "base/terminal.hpp"

namespace joust {
namespace {

bool reader_has_left = false;  // a reader such as head(1) closed a listing before its end

}  // namespace

void print_out(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw OutputError();
}

std::string for_people(std::string_view text) {
  return in_locale(printable(text, "\n\\"));
}

void print_text(const std::string& text) {
  print_out(for_people(text));
}

void print_result(const std::string& text) {
  try {
    errno = 0;
    print_out(text);
  } catch (const OutputError&) {
    if (errno != EPIPE) std::fwrite(text.data(), 1, text.size(), stderr);
    throw;
  }
}

void print_list(const std::string& text) {
  try {
    errno = 0;
    print_out(text);
  } catch (const OutputError&) {
    if (errno != EPIPE) throw;
    reader_has_left = true;
  }
}

void try_print_out(const std::string& text) {
  try {
    print_out(text);
  } catch (const OutputError&) {
    // The stream keeps the error.
  }
}

bool output_is_lost() {
  return std::ferror(stdout) != 0;
}

void finish_output() {
  if (!reader_has_left && (std::fflush(stdout) != 0 || output_is_lost())) throw OutputError();
}

}  // namespace joust

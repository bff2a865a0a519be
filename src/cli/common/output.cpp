// SPDX-License-Identifier: MIT
#include "cli/common/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include "base/build_facts.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"

namespace joust {

std::string version_of(const Program& program) {
  const std::string library = fmt::format("joust {}", build::kVersion);
  if (program.name == "joust")
    return build::kCommit.empty() ? library : fmt::format("{} ({})", library, build::kCommit);
  return fmt::format("{} ({}{}{})", program.name, library, build::kCommit.empty() ? "" : ", ",
                     build::kCommit);
}

std::string columns(std::vector<std::vector<std::string>> rows) {
  for (auto& row : rows)
    for (std::string& cell : row) cell = printable(cell, "\\");  // a line end would begin a row
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

namespace {

std::atomic<bool> reader_has_left = false;

}  // namespace

void print_out(const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  if (errno != EPIPE) throw OutputError();
  reader_has_left = true;
  throw ReaderLeft();
}

std::string for_people(std::string_view text) {
  return in_locale(printable(text, "\n\\"));
}

void print_text(const std::string& text) {
  print_out(for_people(text));
}

void print_result(const std::string& text) {
  try {
    print_list(text);
  } catch (const OutputError&) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    throw;
  }
}

void print_list(const std::string& text) {
  try {
    print_out(text);
  } catch (const ReaderLeft&) {
    // It has seen enough.
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
  return std::ferror(stdout) != 0 && !reader_has_left;
}

void finish_output() {
  if (reader_has_left) return;
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (!flushed && errno == EPIPE) return;
  if (!flushed || output_is_lost()) throw OutputError();
}

}  // namespace joust

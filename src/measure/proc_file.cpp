// SPDX-License-Identifier: MIT
#include "measure/proc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/check.hpp"
#include "base/fd.hpp"

namespace joust {
namespace {

std::optional<std::string> text_of(const Fd& file) {
  if (!file.is_open()) return std::nullopt;
  std::string text;
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t got = retry_interrupted([&] { return ::read(file.get(), chunk.data(), chunk.size()); });
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::optional<std::string> read_proc_file(const std::string& path) {
  return text_of(Fd(retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); })));
}

std::optional<std::string> read_proc_file_at(int directory, const std::string& path) {
  return text_of(
      Fd(retry_interrupted([&] { return ::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC); })));
}

std::optional<std::string_view> field_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(key)) return trimmed(line.substr(key.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

unsigned long long leading_number(std::string_view text) {
  unsigned long long number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#include "cli/common/stored_result.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "cli/common/command.hpp"
#include "history/store.hpp"

namespace joust {
namespace {

// A document above this size is none that a race has made.
constexpr std::size_t kLargestDocument = std::size_t{256} << 20;

// Reads a whole file, up to the size of any result. Throws UsageError.
std::string whole_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char buffer[1 << 16];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kLargestDocument)
      throw UsageError(fmt::format("{}: is larger than 256 MiB, and no result of a race", path));
  }
  if (!file.eof())
    throw UsageError(fmt::format("{}: cannot be read: {}", path, std::generic_category().message(errno)));
  return text;
}

std::string document_named(const std::string& name) {
  std::error_code none;
  const bool is_there = std::filesystem::exists(name, none) && !std::filesystem::is_directory(name, none);
  if (is_there || name.contains('/')) return whole_file(name);
  const auto no_result = [&](const std::string& why) {
    return UsageError(fmt::format("{}: there is no such file, and {}", name, why));
  };
  try {
    const auto store = history::open_store(history::default_path());
    if (const auto entry = store->find(name)) return store->document(entry->id);
  } catch (const std::runtime_error& failed) {
    throw no_result(failed.what());
  }
  throw no_result("no result in the history has that tag or number: see 'history'");
}

}  // namespace

history::NamedDocument read_stored_result(const std::string& file_or_name) {
  auto document = report::page::read_document(document_named(file_or_name));
  if (!document) throw UsageError(fmt::format("{}: {}", file_or_name, document.error()));
  return {.name = file_or_name, .document = std::move(*document)};
}

}  // namespace joust

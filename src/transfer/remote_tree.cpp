// SPDX-License-Identifier: MIT
#include "transfer/remote_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "store/name.hpp"

namespace joust::transfer {
namespace {

// "/" comes before all other characters: a directory is followed by what is in it.
bool is_before(const RemoteItem& one, const RemoteItem& other) {
  const auto rank = [](char c) { return c == '/' ? 0U : 1U + static_cast<unsigned char>(c); };
  return std::ranges::lexicographical_compare(one.name, other.name, {}, rank, rank);
}

}  // namespace

std::string joined(std::string_view folder, std::string_view name) {
  if (folder.empty() || name.empty()) return std::string(folder.empty() ? name : folder);
  return fmt::format("{}/{}", folder, name);
}

std::string RemoteTree::name_there(std::string_view below) const {
  return joined(top_, below);
}

std::string RemoteTree::words_on(const std::string& folder, std::string_view what) const {
  const std::string name = name_there(folder);
  return fmt::format("the server's list of {} is not to be trusted: {}",
                     name.empty() ? "its directory" : printable(name), what);
}

std::string RemoteTree::objection_to_entry(const std::string& folder, const FolderEntry& entry) const {
  std::string_view why = objection_to(entry.name);
  if (why.empty() && entry.name.contains('/')) why = "the name has more than one part";
  const std::string below = joined(folder, entry.name);
  if (why.empty()) why = objection_to(name_there(below));
  if (!why.empty()) return words_on(folder, fmt::format("it has '{}': {}", printable(entry.name), why));
  if (static_cast<std::size_t>(std::ranges::count(below, '/')) < limits_.depth) return {};
  return fmt::format("{}: more than {} directories in one another", printable(name_there(folder)),
                     limits_.depth);
}

std::string RemoteTree::objection_to_count(const std::string& folder, std::size_t count) const {
  if (items_.size() + count <= limits_.entries) return {};
  return fmt::format("{}: more than {} files and directories; take its directories one by one",
                     printable(name_there(folder)), grouped(limits_.entries));
}

std::string RemoteTree::add(const std::string& folder, std::vector<FolderEntry> entries) {
  if (auto objection = objection_to_count(folder, entries.size()); !objection.empty()) return objection;
  std::ranges::sort(entries, {}, &FolderEntry::name);
  const auto twice = std::ranges::adjacent_find(entries, {}, &FolderEntry::name);
  if (twice != entries.end())
    return words_on(folder, fmt::format("it has '{}' twice", printable(twice->name)));
  for (FolderEntry& entry : entries) {
    if (auto objection = objection_to_entry(folder, entry); !objection.empty()) return objection;
    entry.name = joined(folder, entry.name);
    name_bytes_ += entry.name.size();
    if (entry.is_folder) entry.size = 0;
    if (entry.size > limits_.bytes - bytes_)
      return words_on(folder, fmt::format("the files have more than {} bytes", grouped(limits_.bytes)));
    bytes_ += entry.size;
    if (name_bytes_ > limits_.name_bytes)
      return fmt::format("{}: names of more than {}; take its directories one by one",
                         printable(name_there(folder)),
                         format_bytes(static_cast<double>(limits_.name_bytes)));
    items_.push_back(std::move(entry));
  }
  return {};
}

std::vector<RemoteItem> RemoteTree::take_sorted() {
  std::ranges::sort(items_, is_before);
  return std::exchange(items_, {});
}

}  // namespace joust::transfer

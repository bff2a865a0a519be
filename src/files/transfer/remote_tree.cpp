// SPDX-License-Identifier: MIT
#include "files/transfer/remote_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "files/store/name.hpp"

namespace joust::transfer {
namespace {

// Orders "/" before all other characters, so that a directory is followed by its entries.
bool is_before(const RemoteItem& one, const RemoteItem& other) {
  const auto rank = [](char c) { return c == '/' ? 0U : 1U + static_cast<unsigned char>(c); };
  return std::ranges::lexicographical_compare(one.name, other.name, {}, rank, rank);
}

}  // namespace

std::string joined(std::string_view folder, std::string_view name) {
  if (folder.empty() || name.empty()) return std::string(folder.empty() ? name : folder);
  return fmt::format("{}/{}", folder, name);
}

std::string RemoteTree::remote_name(std::string_view below) const {
  return joined(top_, below);
}

std::string RemoteTree::display_name(const std::string& folder) const {
  const std::string name = remote_name(folder);
  return name.empty() ? "the server's directory" : printable(name);
}

std::string RemoteTree::words_on(const std::string& folder, std::string_view what) const {
  return fmt::format("the server's list of {} is not to be trusted: {}",
                     remote_name(folder).empty() ? "its directory" : display_name(folder), what);
}

std::string RemoteTree::objection_to_entry(const std::string& folder, const FolderEntry& entry) const {
  std::string_view why = objection_to(entry.name);
  if (why.empty() && entry.name.contains('/')) why = "the name has more than one part";
  const std::string below = joined(folder, entry.name);
  if (why.empty()) why = objection_to(remote_name(below));
  if (!why.empty()) return words_on(folder, fmt::format("it has '{}': {}", printable(entry.name), why));
  if (static_cast<std::size_t>(std::ranges::count(below, '/')) < limits_.depth) return {};
  return fmt::format("{}: more than {} directories in one another", display_name(folder), limits_.depth);
}

std::string RemoteTree::objection_to_size(const std::string& folder, std::size_t entries,
                                          std::uint64_t name_bytes) const {
  if (entries > limits_.entries)
    return fmt::format("{}: more than {} files and directories; take its directories one by one",
                       display_name(folder), grouped(limits_.entries));
  if (name_bytes > limits_.name_bytes)
    return fmt::format("{}: names of more than {}; take its directories one by one", display_name(folder),
                       format_bytes(static_cast<double>(limits_.name_bytes)));
  return {};
}

std::string RemoteTree::check_part(const std::string& folder, std::span<const FolderEntry> part,
                                   Incoming& incoming) {
  for (const FolderEntry& entry : part) {
    if (auto objection = objection_to_entry(folder, entry); !objection.empty()) return objection;
    const std::uint64_t bytes = joined(folder, entry.name).size();
    ++incoming.entries;
    ++incoming_.entries;
    incoming.name_bytes += bytes;
    incoming_.name_bytes += bytes;
  }
  return objection_to_size(folder, items_.size() + incoming_.entries, name_bytes_ + incoming_.name_bytes);
}

void RemoteTree::forget(Incoming& incoming) {
  incoming_.entries -= incoming.entries;
  incoming_.name_bytes -= incoming.name_bytes;
  incoming = {};
}

std::string RemoteTree::add(const std::string& folder, std::vector<FolderEntry> entries) {
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
    items_.push_back(std::move(entry));
  }
  return objection_to_size(folder, items_.size(), name_bytes_);
}

std::vector<RemoteItem> RemoteTree::take_sorted() {
  std::ranges::sort(items_, is_before);
  return std::exchange(items_, {});
}

}  // namespace joust::transfer

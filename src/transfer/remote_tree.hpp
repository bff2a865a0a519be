// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/folder_listing.hpp"

// What a server says is in its directories. A server may be anybody's, so nothing of it is taken unchecked.
namespace joust::transfer {

// A file or directory; `name` is the path below the directory that was asked for: "a/b".
using RemoteItem = FolderEntry;

// How much is taken from one server.
struct TreeLimits {
  std::size_t entries = 1'000'000;          // files and directories
  std::size_t depth = 100;                  // parts of a name
  std::uint64_t name_bytes = 256ULL << 20;  // of all names together
  std::uint64_t bytes = 1ULL << 62;         // of all files together
};

// The items, as they become known. One thread at a time.
class RemoteTree {
 public:
  // `top`: the server's name of the directory that was asked for; empty: its own.
  RemoteTree(std::string top, const TreeLimits& limits) : top_(std::move(top)), limits_(limits) {}

  // The name on the server of what is below the top.
  std::string name_there(std::string_view below) const;

  // Adds what is directly in one directory, all of it. Returns what speaks against it, for people: a name
  // that leads elsewhere, one that comes twice, or more than the limits allow. Then nothing counts.
  std::string add(const std::string& folder, std::vector<FolderEntry> entries);

  // Of a directory, the entries that have come before all have.
  struct Coming {
    std::size_t entries = 0;
    std::uint64_t name_bytes = 0;
  };
  // Some more have come. Returns what speaks against them already; they count until forget().
  std::string look_at(const std::string& folder, std::span<const FolderEntry> part, Coming& coming);
  void forget(Coming& coming);

  const std::vector<RemoteItem>& items() const { return items_; }
  // Each directory is before what is in it, and what is in a directory is in the order of the names.
  std::vector<RemoteItem> take_sorted();

 private:
  std::string called(const std::string& folder) const;  // for people
  std::string words_on(const std::string& folder, std::string_view what) const;
  std::string objection_to_size(const std::string& folder, std::size_t entries,
                                std::uint64_t name_bytes) const;
  std::string objection_to_entry(const std::string& folder, const FolderEntry& entry) const;

  const std::string top_;
  const TreeLimits limits_;
  std::vector<RemoteItem> items_;
  std::uint64_t name_bytes_ = 0, bytes_ = 0;
  Coming coming_;  // of all directories
};

// "a/b" of "a" and "b"; either may be empty.
std::string joined(std::string_view folder, std::string_view name);

}  // namespace joust::transfer

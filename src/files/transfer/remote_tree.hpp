// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/store/folder_listing.hpp"

// The entries of a server's directories, as the server lists them. Any person may run a server, so all of it
// is checked.
namespace joust::transfer {

// A file or directory; `name` is the path below the directory that was asked for: "a/b".
using RemoteItem = FolderEntry;

// The limits of the lists that are accepted from one server.
struct TreeLimits {
  std::size_t entries = 1'000'000;          // files and directories
  std::size_t depth = 100;                  // parts of a name
  std::uint64_t name_bytes = 256ULL << 20;  // bytes of all names together
  std::uint64_t bytes = 1ULL << 62;         // bytes of all files together
};

// The items of the tree, as they become known. One thread at a time.
class RemoteTree {
 public:
  // `top`: the server's name of the directory that was asked for; empty: the server's own directory.
  RemoteTree(std::string top, const TreeLimits& limits) : top_(std::move(top)), limits_(limits) {}

  // Returns the server's name of an item below the top.
  std::string remote_name(std::string_view below) const;

  // Adds all entries that are directly in one directory. Returns an objection, for people, or an empty text.
  // It objects to a name that leads elsewhere, to a name that occurs twice, and to more than the limits
  // allow. After an objection nothing in the tree counts.
  std::string add(const std::string& folder, std::vector<FolderEntry> entries);

  // The entries of a directory that have arrived before its list is complete.
  struct Incoming {
    std::size_t entries = 0;
    std::uint64_t name_bytes = 0;
  };
  // Checks further entries of an incomplete list. Returns an objection, or an empty text. The entries count
  // until forget().
  std::string check_part(const std::string& folder, std::span<const FolderEntry> part, Incoming& incoming);
  void forget(Incoming& incoming);

  const std::vector<RemoteItem>& items() const { return items_; }
  // Takes the items out. Each directory precedes its entries, and the entries of a directory are in the order
  // of their names.
  std::vector<RemoteItem> take_sorted();

 private:
  std::string display_name(const std::string& folder) const;  // for people
  std::string words_on(const std::string& folder, std::string_view what) const;
  std::string objection_to_size(const std::string& folder, std::size_t entries,
                                std::uint64_t name_bytes) const;
  std::string objection_to_entry(const std::string& folder, const FolderEntry& entry) const;

  const std::string top_;
  const TreeLimits limits_;
  std::vector<RemoteItem> items_;
  std::uint64_t name_bytes_ = 0, bytes_ = 0;
  Incoming incoming_;  // the sum over all directories
};

// Returns "a/b" for "a" and "b"; either may be empty.
std::string joined(std::string_view folder, std::string_view name);

}  // namespace joust::transfer

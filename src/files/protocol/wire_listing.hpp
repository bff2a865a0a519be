// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "files/store/folder_listing.hpp"

// The messages of the file protocol about the entries of a directory.
namespace joust::file {

// Asks for a directory's entries. Answered by its Facts, Entries as often as needed, and Listed.
struct List {
  std::string name{};  // empty: the server's own directory
};
// Some entries of a directory, in any order: as many as fit in a body.
struct Entries {
  std::vector<FolderEntry> entries{};
};
// The end of the list: no entry follows.
struct Listed {
  std::uint64_t entries = 0;   // entries of the whole answer
  std::uint64_t left_out = 0;  // links, devices and names that the protocol does not support
};

// Bytes of one entry in a body, without its name; and bytes before the first entry.
inline constexpr std::size_t kEntryHeadBytes = 1 + 4 + 8 + 8 + 2;
inline constexpr std::size_t kEntriesHeadBytes = 2;

inline constexpr std::uint8_t kEntryIsFolder = 1;  // the kind of an entry; 0: a file

}  // namespace joust::file

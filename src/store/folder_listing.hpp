// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace joust {

// A regular file or a directory, in another directory.
struct FolderEntry {
  std::string name;
  bool is_folder = false;
  std::uint64_t size = 0;        // bytes; of files
  std::int64_t modified_ns = 0;  // since 1970
  bool operator==(const FolderEntry&) const = default;
};

struct FolderListing {
  std::vector<FolderEntry> entries{};  // in any order
  bool is_whole = true;                // false: the directory has more
};

// Lists a directory, which has this name in its tree; empty: the root. At most `most` entries, and at most so
// many in vain for each: those left out are links, what is neither file nor directory, and what has a name
// that objection_to() refuses. Returns the errno on failure.
inline constexpr std::size_t kMostInVain = 4;
std::expected<FolderListing, int> list_folder(Fd folder, std::string_view name, std::size_t most);

}  // namespace joust

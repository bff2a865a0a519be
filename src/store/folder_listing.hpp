// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
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
  std::uint32_t mode = 0;        // permission bits
  bool operator==(const FolderEntry&) const = default;
};

// A directory that is read piece by piece, so that a large one keeps nobody waiting. Left out are links, what
// is neither file nor directory, and what has a name that objection_to() refuses. One thread at a time.
class FolderReader {
 public:
  // The directory has this name in its tree; empty: the root. Returns the errno on failure.
  static std::expected<std::unique_ptr<FolderReader>, int> begin(Fd folder, std::string_view name);
  virtual ~FolderReader() = default;

  // Looks at the next `most` names, fewer at the end, and appends those that are not left out, in any order.
  // Returns how many were looked at (0: the end), or the errno.
  virtual std::expected<std::size_t, int> read(std::size_t most, std::vector<FolderEntry>& into) = 0;
  // Names that were left out so far, but for the server's own.
  virtual std::uint64_t left_out() const = 0;
  virtual const FolderEntry& itself() const = 0;  // the directory, when it was opened
};

struct FolderListing {
  std::vector<FolderEntry> entries{};  // in any order
  bool is_whole = true;                // false: the directory has more
};

// Lists what a reader has left: at most `most` entries, and at most so many in vain for each. Returns the
// errno on failure.
inline constexpr std::size_t kMostInVain = 4;
std::expected<FolderListing, int> list_folder(FolderReader& reader, std::size_t most);

}  // namespace joust

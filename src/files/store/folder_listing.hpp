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
  std::uint64_t size = 0;        // bytes; 0 for a directory
  std::int64_t modified_ns = 0;  // since 1970
  std::uint32_t mode = 0;        // permission bits
  bool operator==(const FolderEntry&) const = default;
};

// Reads a directory piece by piece, so that a large one delays no other session. Leaves out links, everything
// that is neither file nor directory, and names that objection_to() refuses. One thread at a time.
class FolderReader {
 public:
  // `name` is the name of the directory in its tree; empty: the root. Returns the errno on failure.
  static std::expected<std::unique_ptr<FolderReader>, int> begin(Fd folder, std::string_view name);
  virtual ~FolderReader() = default;

  // Reads the next `most` names, or fewer at the end, and appends the entries that are not left out, in any
  // order. Returns how many names were read (0: the end), or the errno.
  virtual std::expected<std::size_t, int> read(std::size_t most, std::vector<FolderEntry>& into) = 0;
  // The number of names left out so far, without the server's own temporary names.
  virtual std::uint64_t left_out() const = 0;
  virtual const FolderEntry& itself() const = 0;  // the directory as it was when opened
};

struct FolderListing {
  std::vector<FolderEntry> entries{};  // in any order
  bool is_whole = true;                // false: the directory has more
};

// Lists the remaining entries of a reader, at most `most` of them. Reads at most kMostInVain names that are
// left out for each of them. Returns the errno on failure.
inline constexpr std::size_t kMostInVain = 4;
std::expected<FolderListing, int> list_folder(FolderReader& reader, std::size_t most);

}  // namespace joust

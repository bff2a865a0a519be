// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "files/store/disk/directory.hpp"
#include "files/store/storage.hpp"

namespace joust::transfer {

// A local file to be sent, or a directory to be made, and its name on the server. An item that was found
// below a directory is opened beneath it, so that no link that is put in its path meanwhile leads elsewhere.
struct SourceItem {
  std::string path;  // only for people if `top` or `opened` is set
  std::string name;
  std::shared_ptr<const Directory> top{};  // null: the path was named by the user, and links are followed
  std::string beneath{};                   // the path below `top`
  std::shared_ptr<const Fd> opened{};      // standard input, which has no path
  FileVersion version{};                   // the version when it was found
  bool is_folder = false;                  // a directory
  bool is_parent = false;                  // a directory, and entries of it are sent
  bool is_nested = false;                  // a directory in another one that is sent
};

struct SourceList {
  std::vector<SourceItem> items{};
  std::vector<std::string> notes{};    // entries left out on purpose, and why
  std::vector<std::string> missing{};  // entries that cannot be sent, and why
  std::uint64_t bytes = 0;
  std::size_t folders = 0;  // items that are directories, below which nothing is sent
  std::size_t parents = 0;  // items that are other directories

  std::size_t files() const { return items.size() - folders - parents; }
};

// Lists the files that these paths name. With `recursive` it lists the files below directories too, and
// before all files the directories, each after its parent. Links below a directory are not followed, and
// neither FIFOs nor devices are opened: a note reports each. `folder` is put before each name. The error
// names the path that cannot be sent, or the two files that would have one name.
std::expected<SourceList, std::string> list_sources(const std::vector<std::string>& paths, bool recursive,
                                                    const std::string& folder);

// Opens a regular file for reading. The error is for people.
struct OpenSource {
  Fd fd;
  FileVersion version{};
};
std::expected<OpenSource, std::string> open_source(const SourceItem& item);

// Reads a whole small file into `buffer`, which grows. Returns nothing if the file has changed since it was
// opened; the error is an errno.
std::expected<std::optional<Bytes>, int> read_whole(const OpenSource& source, std::vector<std::byte>& buffer);

}  // namespace joust::transfer

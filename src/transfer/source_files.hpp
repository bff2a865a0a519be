// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "store/directory.hpp"
#include "store/storage.hpp"

namespace joust::transfer {

// A local file to be sent, or a directory to be made, and its name on the server. One that was found below a
// directory is opened beneath that, so that no link that is put in the way meanwhile leads elsewhere.
struct SourceItem {
  std::string path;  // for people, if there is a directory
  std::string name;
  std::shared_ptr<const Directory> top{};  // null: the path was named by the user, and links are followed
  std::string beneath{};                   // the path from there
  std::shared_ptr<const Fd> opened{};      // one without a path: standard input
  FileVersion version{};                   // when it was found
  bool is_folder = false;                  // a directory
  bool is_on_way = false;                  // a directory: something is sent that comes into it
  bool is_inside = false;                  // a directory: in another one that is sent
};

struct SourceList {
  std::vector<SourceItem> items{};
  std::vector<std::string> notes{};    // what was left out by intention, and why
  std::vector<std::string> missing{};  // what belongs to them and cannot be sent, and why
  std::uint64_t bytes = 0;
  std::size_t folders = 0;  // of the items: directories, below which nothing is sent
  std::size_t ways = 0;     // of the items: other directories

  std::size_t files() const { return items.size() - folders - ways; }
};

// The files that these paths name; with `recursive` those below directories too, and before all files the
// directories, each behind the one that it is in. Links below a directory are not followed, and neither FIFOs
// nor devices are opened: a note says so. `folder` is put before each name. The error says which of the paths
// cannot be sent, or which two files would have one name.
std::expected<SourceList, std::string> list_sources(const std::vector<std::string>& paths, bool recursive,
                                                    const std::string& folder);

// Opens a regular file for reading. The error is for people.
struct OpenSource {
  Fd fd;
  FileVersion version{};
};
std::expected<OpenSource, std::string> open_source(const SourceItem& item);

// All of a small file, in `buffer`, which grows. Nothing if it has changed since it was opened; the error is
// an errno.
std::expected<std::optional<Bytes>, int> read_whole(const OpenSource& source, std::vector<std::byte>& buffer);

}  // namespace joust::transfer

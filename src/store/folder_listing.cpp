// SPDX-License-Identifier: MIT
#include "store/folder_listing.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "store/file_version.hpp"
#include "store/name.hpp"

namespace joust {
namespace {

using Stream = std::unique_ptr<DIR, decltype([](DIR* stream) { ::closedir(stream); })>;

// True if the kind is right, or not known yet.
bool may_be_listed(const dirent& entry) {
  return entry.d_type == DT_REG || entry.d_type == DT_DIR || entry.d_type == DT_UNKNOWN;
}

// Nothing for an entry that is left out, or has gone meanwhile.
std::optional<FolderEntry> entry_of(int folder, std::string_view folder_name, const dirent& found) {
  const std::string name = found.d_name;
  const std::string path = folder_name.empty() ? name : std::string(folder_name) + "/" + name;
  struct stat facts {};
  if (!may_be_listed(found) || !objection_to(path).empty()) return std::nullopt;
  if (::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  const bool is_folder = S_ISDIR(facts.st_mode);
  if (!is_folder && !S_ISREG(facts.st_mode)) return std::nullopt;
  const FileVersion version = version_of(facts);
  return FolderEntry{name, is_folder, is_folder ? 0 : version.size, version.modified_ns};
}

}  // namespace

std::expected<FolderListing, int> list_folder(Fd folder, std::string_view name, std::size_t most) {
  const Stream stream(::fdopendir(folder.get()));
  if (!stream) return std::unexpected(errno);
  const int handle = folder.release();  // the stream's
  FolderListing listing;
  for (std::size_t seen = 0;; ++seen) {
    errno = 0;
    const dirent* const found = ::readdir(stream.get());
    if (found == nullptr && errno != 0) return std::unexpected(errno);
    if (found == nullptr) return listing;
    auto entry = entry_of(handle, name, *found);
    listing.is_whole = seen < most * (1 + kMostInVain) && !(entry && listing.entries.size() == most);
    if (!listing.is_whole) return listing;
    if (entry) listing.entries.push_back(std::move(*entry));
  }
}

}  // namespace joust

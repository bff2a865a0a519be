// SPDX-License-Identifier: MIT
#include "files/store/folder_listing.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "files/store/file_version.hpp"
#include "files/store/name.hpp"

namespace joust {
namespace {

using Stream = std::unique_ptr<DIR, decltype([](DIR* stream) { ::closedir(stream); })>;

// True if the kind is right, or not known yet.
bool may_be_listed(const dirent& entry) {
  return entry.d_type == DT_REG || entry.d_type == DT_DIR || entry.d_type == DT_UNKNOWN;
}

// True for "." and "..", which are no entries, and for temporary names.
bool is_own(std::string_view name) {
  return name == "." || name == ".." || name.starts_with(kTemporaryPrefix);
}

FolderEntry entry_of(std::string name, const struct stat& facts) {
  const bool is_folder = S_ISDIR(facts.st_mode);
  const FileVersion version = version_of(facts);
  return {std::move(name), is_folder, is_folder ? 0 : version.size, version.modified_ns, version.mode};
}

class DirectoryReader : public FolderReader {
 public:
  DirectoryReader(Stream stream, int handle, std::string_view name, FolderEntry itself)
      : stream_(std::move(stream)), handle_(handle), name_(name), itself_(std::move(itself)) {}

  std::expected<std::size_t, int> read(std::size_t most, std::vector<FolderEntry>& into) override {
    for (std::size_t seen = 0; seen < most; ++seen) {
      errno = 0;
      const dirent* const found = ::readdir(stream_.get());
      if (found == nullptr && errno != 0) return std::unexpected(errno);
      if (found == nullptr) return seen;
      look_at(*found, into);
    }
    return most;
  }
  std::uint64_t left_out() const override { return left_out_; }
  const FolderEntry& itself() const override { return itself_; }

 private:
  // Ignores an entry that has been removed meanwhile: it does not count as left out.
  void look_at(const dirent& found, std::vector<FolderEntry>& into) {
    std::string name = found.d_name;
    if (is_own(name)) return;
    const std::string path = name_.empty() ? name : name_ + "/" + name;
    struct stat facts {};
    const bool may_be = may_be_listed(found) && objection_to(path).empty();
    if (may_be && ::fstatat(handle_, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (may_be && (S_ISDIR(facts.st_mode) || S_ISREG(facts.st_mode)))
      into.push_back(entry_of(std::move(name), facts));
    else
      ++left_out_;
  }

  const Stream stream_;
  const int handle_;  // the descriptor of the stream
  const std::string name_;
  const FolderEntry itself_;
  std::uint64_t left_out_ = 0;
};

}  // namespace

std::expected<std::unique_ptr<FolderReader>, int> FolderReader::begin(Fd folder, std::string_view name) {
  struct stat facts {};
  if (::fstat(folder.get(), &facts) != 0) return std::unexpected(errno);
  Stream stream(::fdopendir(folder.get()));
  if (!stream) return std::unexpected(errno);
  return std::make_unique<DirectoryReader>(std::move(stream), folder.release(), name,
                                           entry_of(std::string(split_name(name).last), facts));
}

std::expected<FolderListing, int> list_folder(FolderReader& reader, std::size_t most) {
  FolderListing listing;
  for (std::size_t seen = 0;; ++seen) {
    const auto looked_at = reader.read(1, listing.entries);
    if (!looked_at) return std::unexpected(looked_at.error());
    if (*looked_at == 0) return listing;
    listing.is_whole = listing.entries.size() <= most && seen < most * (1 + kMostInVain);
    if (listing.is_whole) continue;
    listing.entries.resize(std::min(listing.entries.size(), most));
    return listing;
  }
}

}  // namespace joust

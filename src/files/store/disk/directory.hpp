// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "files/store/storage.hpp"

namespace joust {

// The way in which names are resolved beneath a directory: by one system call, or part by part if the kernel
// lacks it.
enum class Resolution : unsigned char { openat2, walk };

// The directory that contains a name. The handle refers to that directory even if another one takes its name.
struct Parent {
  std::shared_ptr<const Fd> fd;  // a handle: O_PATH; never null
  std::string last;              // the name's last part, in that directory
};

class Quota;

// Checks an opened descriptor, which is closed if opening failed, with the reason in errno. Returns a regular
// file; EISDIR or ENODEV for any other kind.
std::expected<Fd, int> only_regular(Fd opened);

// A directory that confines all names: symbolic links are not followed, and ".." is refused. Names must have
// passed objection_to() before. Errors are errnos. All methods: any thread.
class Directory {
 public:
  // Throws std::system_error if the directory does not exist. Uses `walk` if the kernel lacks openat2.
  explicit Directory(const std::string& path, Resolution resolution = Resolution::openat2);

  // Opens a regular file for reading; EISDIR or ENODEV for any other kind.
  std::expected<Fd, int> open_file(std::string_view name) const;

  // Opens a directory, to list it; the root has the empty name.
  std::expected<Fd, int> open_folder(std::string_view name) const;

  std::expected<Parent, int> open_parent(std::string_view name) const;

  // Makes the missing directories on the path to the name. Each takes kEntryBytes of the quota permanently;
  // null: they cost nothing. Returns the errno, or 0: EDQUOT if the quota has no room for one. Directories
  // that were made before an error stay.
  int make_parents(std::string_view name, Quota* quota) const;
  // Calls `step` with handles for each directory on the path to the name: of its parent, and of itself. Ends
  // at the first error. Returns the errno, or 0.
  using Step = std::function<int(int in, int found)>;
  int each_parent(std::string_view name, const Step& step) const;

  int descriptor() const { return root_.get(); }  // a handle: O_PATH

 private:
  template <typename Open>
  int walk_to_parent(std::string_view name, Open open) const;
  static std::expected<Fd, int> open_or_make(int in, const std::string& part, Quota* quota);
  std::expected<Fd, int> open_beneath(std::string_view name, int flags) const;
  std::expected<Fd, int> walk(std::string_view name, int flags) const;

  Fd root_;
  Resolution resolution_;
};

// The directories of one tree, with what is known of them and of the disk. Errors are errnos. `folder` is a
// handle of a directory. All methods: any thread.
class FolderTree {
 public:
  static constexpr std::size_t kMostFailures = 4096;

  // Throws std::system_error if the directory does not exist.
  explicit FolderTree(const std::string& root, Resolution resolution = Resolution::openat2)
      : directory_(root, resolution) {}

  const Directory& directory() const { return directory_; }
  // Held while a file gets its name: the file replaced must be the one whose size was counted.
  std::mutex& publishing() { return publishing_; }

  // The directory in which the newest files are made. Files that follow share its handle as long as one of
  // them is under way, so that the path is resolved once for many small files. The directory may have been
  // moved or removed meanwhile: confirm_folder() checks that.
  std::optional<Parent> recent(std::string_view name) const;      // the parent of the name, if it is this one
  void keep_recent(std::string_view name, const Parent& parent);  // `parent` is the parent of the name
  void forget_recent();                                           // it is no longer at its path

  // Puts a name onto the disk, with the names of the directories on its path: one of them may have been made
  // just now. Each is synced once, and not again with every file that is added to it. `folder` is the last
  // directory, and `file` the open file, or -1. Returns the errno, or 0.
  int sync_names(std::string_view name, int folder, int file);

  // The files and directories that the disk has failed to take. The kernel reports such a failure once, and
  // then treats the lost pages as written: a second fsync() succeeds although the disk has other bytes.
  // Errors other than those of a disk are ignored.
  void note_failure(const FileVersion& version, int error);
  // True if the disk has failed to take this version. False for every other version of the file, also for one
  // that was removed and made again: its time of change differs. After more than kMostFailures the result is
  // true for every file.
  bool has_failed(const FileVersion& version) const;

 private:
  int sync(int folder, int file);
  bool is_on_disk(int folder) const;
  void note_on_disk(int folder);

  const Directory directory_;
  std::mutex publishing_;
  mutable std::mutex mutex_;  // protects the following
  std::string recent_path_;
  std::weak_ptr<const Fd> recent_;
  std::set<FileVersion> on_disk_;  // directories whose own names are known to be on the disk
  std::set<FileVersion> failed_;
};

}  // namespace joust

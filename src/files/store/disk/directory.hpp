// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.hpp"

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

}  // namespace joust

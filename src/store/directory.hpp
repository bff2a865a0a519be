// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace joust {

// How names are resolved beneath a directory: by one system call, or part by part where the kernel lacks it.
enum class Resolution : unsigned char { openat2, walk };

// The directory a name lies in. Whoever holds it works in that very directory, whatever is put in its place
// meanwhile.
struct Parent {
  Fd fd;             // a handle only: O_PATH
  std::string last;  // the name's last part, there
};

// A directory nobody gets out of by a name: no symbolic link is followed, no ".." obeyed. Names are to have
// passed objection_to() before. Errors are errnos. All methods: any thread.
class Directory {
 public:
  // Throws std::system_error when there is no such directory. Falls back to walking by itself.
  explicit Directory(const std::string& path, Resolution resolution = Resolution::openat2);

  // A regular file for reading; ENODEV when it is something else.
  std::expected<Fd, int> open_file(std::string_view name) const;

  std::expected<Parent, int> open_parent(std::string_view name) const;

  int descriptor() const { return root_.get(); }  // a handle only: O_PATH

 private:
  std::expected<Fd, int> open_beneath(std::string_view name, int flags) const;
  std::expected<Fd, int> walk(std::string_view name, int flags) const;

  Fd root_;
  Resolution resolution_;
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "store/directory.hpp"

namespace joust {

enum class Existing : unsigned char { keep, replace };

// A file in the making, beside the place where it shall be, under a name nobody can guess. It vanishes with
// this object unless it was published. One thread at a time.
class NewFile {
 public:
  // EEXIST when there is a file of that name that is to be kept. Parents are never created.
  static std::expected<NewFile, int> create(const Directory& directory, std::string_view name,
                                            Existing existing);
  NewFile(NewFile&&) = default;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  Fd& descriptor() { return fd_; }  // to read and to write; may be moved away

  // Gives it its name, all at once; 0 or the errno. It is ENOENT when the directory is no longer where it
  // was: nothing is ever published outside.
  int publish();
  void abandon();  // at once

 private:
  NewFile(const Directory& directory, std::string_view name, Existing existing, Parent parent);
  int rename_into_place() const;
  int refuses() const;

  const Directory* directory_;
  std::string name_;
  Existing existing_;
  Parent parent_;
  std::string temporary_;
  Fd fd_;
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string_view>

#include "base/fd.hpp"
#include "store/available.hpp"

namespace joust {

enum class Existing : unsigned char { keep, replace };

// The size of the file whose name a new one has taken; nothing where the name was free.
using ReplacedBytes = std::optional<std::uint64_t>;

// A file in the making. It vanishes with this object unless it was published. One thread at a time.
class NewFile {
 public:
  virtual ~NewFile() = default;

  Fd& descriptor() { return fd_; }  // to read and to write; may be moved away

  // Gives the file its name, all at once. Or the errno: EEXIST where a file of that name is to be kept.
  virtual std::expected<ReplacedBytes, int> publish() = 0;
  virtual void abandon() = 0;  // at once

 protected:
  Fd fd_;
};

// Files by their names. Names are to have passed objection_to() before; errors are errnos. All methods: any
// thread.
class FileTree {
 public:
  virtual ~FileTree() = default;

  // A regular file for reading; ENODEV when it is something else.
  virtual std::expected<Fd, int> open(std::string_view name) const = 0;

  // The bytes of a file that has its name never change: nobody else can write to it.
  virtual bool is_immutable() const = 0;

  virtual Available available() const = 0;  // for more files

  // EEXIST when there is a file of that name that is to be kept.
  virtual std::expected<std::unique_ptr<NewFile>, int> create(std::string_view name, Existing existing) = 0;
};

}  // namespace joust

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

// The size of the file that was replaced; nothing if there was none.
using ReplacedBytes = std::optional<std::uint64_t>;

// A file that has no name yet. It is removed with this object unless it was published. One thread at a time.
class NewFile {
 public:
  virtual ~NewFile() = default;

  Fd& descriptor() { return fd_; }  // for reading and writing; may be moved from

  // Gives the file its name, atomically. Returns the errno on failure: EEXIST if an existing file must be
  // kept.
  virtual std::expected<ReplacedBytes, int> publish() = 0;
  virtual void abandon() = 0;  // removes it now

 protected:
  Fd fd_;
};

// Named files. Names must have passed objection_to() before; errors are errnos. All methods: any thread.
class FileTree {
 public:
  virtual ~FileTree() = default;

  // Opens a regular file for reading; ENODEV for any other kind.
  virtual std::expected<Fd, int> open(std::string_view name) const = 0;

  // True if the bytes of a named file never change, because other programs cannot write to it.
  virtual bool is_immutable() const = 0;

  virtual Available available() const = 0;  // for new files

  // EEXIST if there is a file of that name that must be kept.
  virtual std::expected<std::unique_ptr<NewFile>, int> create(std::string_view name, Existing existing) = 0;
};

}  // namespace joust

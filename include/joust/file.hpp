// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "joust/bytes.hpp"

namespace joust {

// What sessions send from and store into: a file of a disk, a mapping, a stretch of memory, or nowhere. Both
// calls may block on a disk and do as much as goes at once. All methods: any thread, at different offsets.
class File {
 public:
  virtual ~File() = default;

  // How many bytes were read, 0 at the file's end; or the errno.
  virtual std::expected<std::size_t, int> read_at(std::uint64_t offset, std::span<std::byte> into) const = 0;

  // How many bytes were written, never 0 of some; or the errno.
  virtual std::expected<std::size_t, int> write_at(std::uint64_t offset, Bytes bytes) = 0;

  // The bytes from `offset` on themselves, at most `size`, where they lie in memory for as long as the file
  // exists: a session may send them as they are. Empty where read_at is to be used.
  virtual Bytes mapped(std::uint64_t /*offset*/, std::uint64_t /*size*/) const { return {}; }

  // For engines that have the kernel move the bytes (sendfile, splice); -1 where they are to use the calls
  // above.
  virtual int descriptor() const { return -1; }
};

// Borrowed: the session keeps the file until the range is released or stored.
struct FileRange {
  File* file = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // bytes
};

}  // namespace joust

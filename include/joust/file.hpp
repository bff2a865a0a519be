// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "joust/bytes.hpp"
#include "joust/time.hpp"

namespace joust {

// What sessions send from and store into: a file on a disk, a mapping, a stretch of memory, or a sink that
// keeps nothing. read_at and write_at may block on a disk, and may do less than was asked. Any thread may
// call any method, several at once at different offsets.
class File {
 public:
  virtual ~File() = default;

  // Returns how many bytes were read, 0 at the end of the file; or the errno.
  virtual std::expected<std::size_t, int> read_at(std::uint64_t offset, std::span<std::byte> into) const = 0;

  // Returns how many bytes were written, at least one; or the errno. `bytes` is not empty.
  virtual std::expected<std::size_t, int> write_at(std::uint64_t offset, Bytes bytes) = 0;

  // At most `size` bytes from `offset` on, where they lie in memory for as long as the file exists, so that a
  // session may send them without a copy. Empty where read_at has to be used.
  virtual Bytes mapped(std::uint64_t /*offset*/, std::uint64_t /*size*/) const { return {}; }

  // The open file, borrowed, for engines that let the kernel move the bytes (sendfile, splice); -1 where
  // they have to use the calls above.
  virtual int descriptor() const { return -1; }
};

// A part of a file. Borrowed: the session keeps the file until the range is released or stored.
struct FileRange {
  File* file = nullptr;
  std::uint64_t offset = 0;  // bytes from the start of the file
  std::uint64_t size = 0;  // bytes
};

// The interface for files of a session that sends from them or stores into them; see Session::files().
// store() is an output of the session, the others are inputs: they obey its rules for threads and order.
class SessionFiles {
 public:
  // Where the next bytes from the peer belong. Asked only while Session::want() is file; then never empty.
  virtual FileRange store() const = 0;

  // The first n bytes of the range that store() gave are in the file; n > 0. `seen` shows these bytes where
  // the engine had them in memory, so that a digest needs no second reading. It is empty where the kernel
  // moved them. Valid during the call.
  virtual void on_stored(std::size_t n, Bytes seen, Time now) = 0;

  // The file refused the bytes, with this errno. The same bytes are offered again according to the new want()
  // and store(), which must differ from the old ones.
  virtual void on_store_failed(int error, Time now) = 0;

  // The file range that output() begins with has no more bytes (error 0: the file is shorter than it was) or
  // cannot be read (errno). The next output() must not begin with that range.
  virtual void on_source_failed(int error, Time now) = 0;

 protected:
  ~SessionFiles() = default;  // owned as a session
};

}  // namespace joust

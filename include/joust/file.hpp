// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <mutex>
#include <span>

#include "joust/bytes.hpp"
#include "joust/time.hpp"

namespace joust {

// How an engine gets a peer's bytes into a file. An engine that lacks the wanted way uses write_at.
enum class Filling : std::uint8_t {
  copy,    // File::write_at, from the buffer of a read
  splice,  // inside the kernel, into File::descriptor()
  ring,    // File::write_pieces_at, from a ring buffer that the socket was read into
};

// Source and destination of a session's file data: a file on a disk, a mapping, memory, or a sink that
// discards everything. read_at and write_at may block on a disk, and may transfer less than asked. Any thread
// may call any method; concurrent calls use different offsets.
class File {
 public:
  virtual ~File() = default;

  // Returns the number of bytes read, 0 at the end of the file; or the errno.
  virtual std::expected<std::size_t, int> read_at(std::uint64_t offset, std::span<std::byte> into) const = 0;

  // Returns the number of bytes written, at least one; or the errno. `bytes` is not empty.
  virtual std::expected<std::size_t, int> write_at(std::uint64_t offset, Bytes bytes) = 0;

  // Writes bytes in several pieces, one after the other. `pieces` has at least one piece, and none is empty.
  // Returns the same as write_at.
  virtual std::expected<std::size_t, int> write_pieces_at(std::uint64_t offset,
                                                          std::span<const Bytes> pieces) {
    return write_at(offset, pieces.front());
  }

  // Returns at most `size` bytes from `offset` on, in memory that lives as long as the file, so that a
  // session may send them without a copy. Empty where read_at has to be used.
  virtual Bytes mapped(std::uint64_t /*offset*/, std::uint64_t /*size*/) const { return {}; }

  // Returns the file's open descriptor, borrowed, for engines that let the kernel move the bytes (sendfile,
  // splice). -1 where they have to use the calls above.
  virtual int descriptor() const { return -1; }

  // Returns the lock that an engine holds while it lets the kernel write into descriptor(), so that threads
  // that fill one file sleep until their turn. The kernel has a lock for each file too, and waits for it by
  // spinning.
  virtual std::unique_lock<std::mutex> turn_to_write() { return {}; }

  // Returns the wanted way to store into this file. The answer never changes.
  virtual Filling filling() const { return descriptor() < 0 ? Filling::copy : Filling::splice; }
};

// A part of a file. Borrowed: the session keeps the file until the range is released or stored.
struct FileRange {
  File* file = nullptr;
  std::uint64_t offset = 0;  // bytes from the start of the file
  std::uint64_t size = 0;    // bytes
};

// The file interface of a session that sends from files or stores into them; see Session::files(). store() is
// an output of the session and the others are inputs, with the session's rules for threads and order.
class SessionFiles {
 public:
  // Returns the destination of the next bytes from the peer. Called only while Session::want() is file; then
  // never empty.
  virtual FileRange store() const = 0;

  // The first n bytes of the range given by store() are in the file; n > 0. `seen` is a view of these bytes
  // if the engine had them in memory, so that a digest need not read them again. It is empty if the kernel
  // moved them. Valid during the call.
  virtual void on_stored(std::size_t n, Bytes seen, Time now) = 0;

  // Writing failed with this errno. The same bytes are offered again according to the new want() and store(),
  // which must differ from the old ones.
  virtual void on_store_failed(int error, Time now) = 0;

  // The first segment of output() is a file range that has no more bytes (error 0: the file has shrunk) or
  // cannot be read (errno). The next output() must not begin with that range.
  virtual void on_source_failed(int error, Time now) = 0;

 protected:
  ~SessionFiles() = default;  // owned by its session
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <mutex>

#include "base/fd.hpp"
#include "joust/file.hpp"

namespace joust {

// The way of a file's bytes to a socket: through a buffer, from a mapping, or inside the kernel.
enum class FileRead : std::uint8_t { read, mmap, sendfile };
// The way of a socket's bytes into a file.
enum class FileWrite : std::uint8_t { write, splice, mmap, writev };

// Returns how a file is filled. A mapping is filled by `copy`: File::write_at writes into it.
constexpr Filling filling_by(FileWrite method) {
  if (method == FileWrite::writev) return Filling::ring;
  return method == FileWrite::splice ? Filling::splice : Filling::copy;
}

// The bytes copied through a buffer: shows how far an engine used the wanted way.
struct PlainBytes {
  std::atomic<std::uint64_t> read{0}, written{0};
  std::atomic<std::uint64_t> gathered{0};  // written from the pieces of a ring; not counted in `written`
};

// A file's mapping. Empty if mapping was refused.
class Mapping {
 public:
  Mapping() = default;
  Mapping(int fd, std::uint64_t size, int protection);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<std::byte> bytes() const { return {begin_, size_}; }

 private:
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
};

// A file open for reading.
//
// With mmap: a mapping reaches beyond the end of a file that shrinks, and touching such a byte raises SIGBUS.
// So mapped() checks the size first and returns nothing beyond it. The file may still shrink between the
// check and the send. That is harmless if the kernel reads the bytes: send() then returns EFAULT, and the
// size is checked again. Only the `null` engine reads such bytes itself: do not shrink files during its runs.
class SourceFile : public File {
 public:
  // `plain` is borrowed; may be null.
  SourceFile(Fd fd, std::uint64_t size, FileRead method, PlainBytes* plain = nullptr);
  std::expected<std::size_t, int> read_at(std::uint64_t offset, std::span<std::byte> into) const override;
  std::expected<std::size_t, int> write_at(std::uint64_t offset, Bytes bytes) override;
  Bytes mapped(std::uint64_t offset, std::uint64_t size) const override;
  int descriptor() const override { return method_ == FileRead::sendfile ? fd_.get() : -1; }

  int number() const { return fd_.get(); }  // descriptor of the open file, borrowed

 private:
  Fd fd_;
  FileRead method_;
  PlainBytes* plain_;
  Mapping mapping_;
};

// A file of known size that is being filled, and may be read again.
class TargetFile : public File {
 public:
  // With mmap the file must have its size already. Room must be reserved before a write, because touching a
  // page for which the disk has no room ends the process.
  TargetFile(Fd fd, std::uint64_t size, FileWrite method, PlainBytes* plain = nullptr);
  std::expected<std::size_t, int> read_at(std::uint64_t offset, std::span<std::byte> into) const override;
  std::expected<std::size_t, int> write_at(std::uint64_t offset, Bytes bytes) override;
  std::expected<std::size_t, int> write_pieces_at(std::uint64_t offset,
                                                  std::span<const Bytes> pieces) override;
  int descriptor() const override { return method_ == FileWrite::splice ? fd_.get() : -1; }
  std::unique_lock<std::mutex> turn_to_write() override { return std::unique_lock(writing_); }
  Filling filling() const override { return filling_by(method_); }

  int number() const { return fd_.get(); }  // descriptor of the open file, borrowed

  // Reserves disk space for this part, if a mapping needs that; returns 0 or the errno.
  int make_room(std::uint64_t offset, std::uint64_t size);
  // Frees the disk space of whole pages. False where the file system cannot do that.
  bool free_room(std::uint64_t offset, std::uint64_t size);

 private:
  bool holds(std::uint64_t offset, std::uint64_t size) const {
    return offset <= size_ && size <= size_ - offset;
  }

  Fd fd_;
  std::uint64_t size_;
  FileWrite method_;
  PlainBytes* plain_;
  Mapping mapping_;
  std::mutex writing_;
};

// Discards everything. Makes no system call except for splice.
class NullFile : public File {
 public:
  explicit NullFile(FileWrite method);
  std::expected<std::size_t, int> write_pieces_at(std::uint64_t offset,
                                                  std::span<const Bytes> pieces) override;
  Filling filling() const override { return filling_; }
  std::expected<std::size_t, int> read_at(std::uint64_t, std::span<std::byte>) const override { return 0; }
  std::expected<std::size_t, int> write_at(std::uint64_t, Bytes bytes) override { return bytes.size(); }
  int descriptor() const override { return fd_.get(); }

 private:
  Fd fd_;  // /dev/null, for splice
  Filling filling_;
};

// An anonymous file in memory, filled with a pattern; it can neither grow nor shrink. Throws
// std::system_error, also if too little memory is available (available_memory()).
Fd generated_file(std::uint64_t size);

// Reserves disk space for a part of a file, and makes the file long enough. Returns 0 or the errno:
// EOPNOTSUPP if the file system or the kernel cannot reserve.
int reserve(int fd, std::uint64_t offset, std::uint64_t size);

// Frees the disk space of the whole pages in a part of a file. The size of the file stays. Returns 0 or the
// errno, as reserve() does.
int punch(int fd, std::uint64_t offset, std::uint64_t size);

}  // namespace joust

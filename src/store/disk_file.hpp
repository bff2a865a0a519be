// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>

#include "base/fd.hpp"
#include "joust/file.hpp"

namespace joust {

// How bytes get from a file to a socket: through a buffer of ours, from a mapping, or inside the kernel.
enum class FileRead : std::uint8_t { read, mmap, sendfile };
// And from a socket into a file.
enum class FileWrite : std::uint8_t { write, splice, mmap };

// Bytes that went the plain way, through a buffer of ours: shows what an engine made of a wish.
struct PlainBytes {
  std::atomic<std::uint64_t> read{0}, written{0};
};

// Memory that a file is mapped to. Empty when mapping was refused.
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

// A file that is read.
//
// By mmap: a mapping reaches beyond the end of a file that shrinks, and who touches a byte there is ended by
// SIGBUS. So mapped() looks at the size first and shows nothing beyond it. The gap between that look and the
// send remains, and is harmless where the kernel does the touching: send() then answers EFAULT, and we look
// again. Only the `null` engine touches such bytes itself: do not shrink files under it.
class SourceFile : public File {
 public:
  // `plain` is borrowed; may be null.
  SourceFile(Fd fd, std::uint64_t size, FileRead how, PlainBytes* plain = nullptr);
  std::expected<std::size_t, int> read_at(std::uint64_t offset, std::span<std::byte> into) const override;
  std::expected<std::size_t, int> write_at(std::uint64_t offset, Bytes bytes) override;
  Bytes mapped(std::uint64_t offset, std::uint64_t size) const override;
  int descriptor() const override { return how_ == FileRead::sendfile ? fd_.get() : -1; }

 private:
  Fd fd_;
  FileRead how_;
  PlainBytes* plain_;
  Mapping mapping_;
};

// A file of a known size that is filled, and may be read again.
class TargetFile : public File {
 public:
  // With mmap the file has its size already, and room is made before it is written: touching a page that the
  // disk has no room for ends the process.
  TargetFile(Fd fd, std::uint64_t size, FileWrite how, PlainBytes* plain = nullptr);
  std::expected<std::size_t, int> read_at(std::uint64_t offset, std::span<std::byte> into) const override;
  std::expected<std::size_t, int> write_at(std::uint64_t offset, Bytes bytes) override;
  int descriptor() const override { return how_ == FileWrite::splice ? fd_.get() : -1; }

  // Room on the disk for this part, where a mapping needs it; 0, or the errno.
  int make_room(std::uint64_t offset, std::uint64_t size);

 private:
  Fd fd_;
  std::uint64_t size_;
  FileWrite how_;
  PlainBytes* plain_;
  Mapping mapping_;
};

// Takes everything and keeps nothing.
class NullFile : public File {
 public:
  explicit NullFile(FileWrite how);
  std::expected<std::size_t, int> read_at(std::uint64_t, std::span<std::byte>) const override { return 0; }
  std::expected<std::size_t, int> write_at(std::uint64_t, Bytes bytes) override { return bytes.size(); }
  int descriptor() const override { return fd_.get(); }

 private:
  Fd fd_;  // /dev/null, for splice
};

// Takes room on the disk for a part of a file, and makes the file long enough. 0, or the errno: EOPNOTSUPP
// where the file system cannot promise.
int reserve(int fd, std::uint64_t offset, std::uint64_t size);

// A file without a name, in memory, of a pattern; it can neither grow nor shrink. Throws std::system_error,
// also where less memory is available (available_memory()).
Fd generated_file(std::uint64_t size);

}  // namespace joust

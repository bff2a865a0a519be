// SPDX-License-Identifier: MIT
#include "files/store/disk/disk_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/check.hpp"
#include "base/limits.hpp"
#include "base/system/files.hpp"

namespace joust {
namespace {

std::expected<std::size_t, int> read_from(int fd, std::uint64_t offset, std::span<std::byte> into) {
  const ssize_t n =
      retry_interrupted([&] { return ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset)); });
  if (n < 0) return std::unexpected(errno);
  return static_cast<std::size_t>(n);
}

// The result of a write of at least one byte, with its errno. `counter` is for the bytes written.
std::expected<std::size_t, int> written(ssize_t n, std::atomic<std::uint64_t>* counter) {
  if (n < 0) return std::unexpected(errno);
  if (n == 0) return std::unexpected(ENOSPC);
  if (counter != nullptr) counter->fetch_add(static_cast<std::uint64_t>(n), std::memory_order_relaxed);
  return static_cast<std::size_t>(n);
}

std::uint64_t size_of(std::span<const Bytes> pieces) {
  std::uint64_t sum = 0;
  for (const Bytes piece : pieces) sum += piece.size();
  return sum;
}

}  // namespace

Mapping::Mapping(int fd, std::uint64_t size, int protection) {
  if (size == 0) return;
  void* begin = ::mmap(nullptr, size, protection, MAP_SHARED, fd, 0);
  if (begin == MAP_FAILED) return;
  begin_ = static_cast<std::byte*>(begin);
  size_ = size;
}

Mapping::~Mapping() {
  if (begin_ != nullptr) ::munmap(begin_, size_);
}

SourceFile::SourceFile(Fd fd, std::uint64_t size, FileRead method, PlainBytes* plain)
    : fd_(std::move(fd)),
      method_(method),
      plain_(plain),
      mapping_(fd_.get(), method == FileRead::mmap ? size : 0, PROT_READ) {}

std::expected<std::size_t, int> SourceFile::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  const auto read = read_from(fd_.get(), offset, into);
  if (plain_ != nullptr) plain_->read.fetch_add(read.value_or(0), std::memory_order_relaxed);
  return read;
}

std::expected<std::size_t, int> SourceFile::write_at(std::uint64_t /*offset*/, Bytes /*bytes*/) {
  return std::unexpected(EBADF);
}

Bytes SourceFile::mapped(std::uint64_t offset, std::uint64_t size) const {
  struct stat facts {};
  if (mapping_.bytes().empty() || ::fstat(fd_.get(), &facts) != 0) return {};
  const std::uint64_t end = std::min<std::uint64_t>(mapping_.bytes().size(), facts.st_size);
  if (offset >= end) return {};
  return mapping_.bytes().subspan(offset, std::min(size, end - offset));
}

TargetFile::TargetFile(Fd fd, std::uint64_t size, FileWrite method, PlainBytes* plain)
    : fd_(std::move(fd)),
      size_(size),
      method_(method),
      plain_(plain),
      mapping_(fd_.get(), method == FileWrite::mmap ? size : 0, PROT_READ | PROT_WRITE) {}

std::expected<std::size_t, int> TargetFile::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  return read_from(fd_.get(), offset, into);
}

std::expected<std::size_t, int> TargetFile::write_at(std::uint64_t offset, Bytes bytes) {
  if (!holds(offset, bytes.size())) return std::unexpected(EFBIG);
  if (!mapping_.bytes().empty()) {
    std::memcpy(mapping_.bytes().data() + offset, bytes.data(), bytes.size());
    return bytes.size();
  }
  const ssize_t n = retry_interrupted([&] {
    const auto turn = turn_to_write();
    return ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  });
  return written(n, plain_ == nullptr ? nullptr : &plain_->written);
}

std::expected<std::size_t, int> TargetFile::write_pieces_at(std::uint64_t offset,
                                                            std::span<const Bytes> pieces) {
  if (!mapping_.bytes().empty()) return write_at(offset, pieces.front());
  std::array<iovec, 2> parts{};  // a ring has no more; bytes of further pieces are passed again
  const std::size_t count = std::min(pieces.size(), parts.size());
  if (!holds(offset, size_of(pieces.first(count)))) return std::unexpected(EFBIG);
  for (std::size_t i = 0; i < count; ++i)
    parts[i] = {const_cast<std::byte*>(pieces[i].data()), pieces[i].size()};
  const ssize_t n = retry_interrupted([&] {
    const auto turn = turn_to_write();
    return ::pwritev(fd_.get(), parts.data(), static_cast<int>(count), static_cast<off_t>(offset));
  });
  return written(n, plain_ == nullptr ? nullptr : &plain_->gathered);
}

int TargetFile::make_room(std::uint64_t offset, std::uint64_t size) {
  return mapping_.bytes().empty() ? 0 : reserve(fd_.get(), offset, size);
}

bool TargetFile::free_room(std::uint64_t offset, std::uint64_t size) {
  return punch(fd_.get(), offset, size) == 0;
}

NullFile::NullFile(FileWrite method)
    : fd_(method == FileWrite::splice ? checked(::open("/dev/null", O_WRONLY | O_CLOEXEC), "open(/dev/null)")
                                      : -1),
      filling_(filling_by(method)) {}

std::expected<std::size_t, int> NullFile::write_pieces_at(std::uint64_t /*offset*/,
                                                          std::span<const Bytes> pieces) {
  return size_of(pieces);
}

Fd generated_file(std::uint64_t size) {
  if (const Available room = available_memory(); size > room.bytes)
    checked_number(ENOMEM, "{}", shortage(size, room));
  Fd fd = sealable_memory_file("joust-sample");
  checked(fd.get(), "memfd_create()");
  checked(::ftruncate(fd.get(), static_cast<off_t>(size)), "ftruncate(memory, {})", size);
  // A prime number of words, so that exchanged pages and frames are detected.
  std::vector<std::uint64_t> block(65'521);
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  for (std::uint64_t& word : block) {
    state ^= state << 13;  // xorshift64 (Marsaglia, "Xorshift RNGs", 2003)
    state ^= state >> 7;
    state ^= state << 17;
    word = state;
  }
  const Bytes pattern = std::as_bytes(std::span(block));
  for (std::uint64_t done = 0; done < size;) {
    const Bytes rest = pattern.subspan(done % pattern.size());
    const std::size_t most = std::min<std::uint64_t>(rest.size(), size - done);
    done += static_cast<std::uint64_t>(checked(
        retry_interrupted([&] { return ::pwrite(fd.get(), rest.data(), most, static_cast<off_t>(done)); }),
        "pwrite(memory, {} bytes)", most));
  }
  checked(seal_memory(fd), "fcntl(F_ADD_SEALS)");
  return fd;
}

#ifdef __linux__

namespace {

int allocate(int fd, int mode, std::uint64_t offset, std::uint64_t size) {
  const auto begin = static_cast<off_t>(offset), length = static_cast<off_t>(size);
  return retry_interrupted([&] { return ::fallocate(fd, mode, begin, length); }) == 0 ? 0 : errno;
}

}  // namespace

int reserve(int fd, std::uint64_t offset, std::uint64_t size) {
  return size == 0 ? 0 : allocate(fd, 0, offset, size);
}

int punch(int fd, std::uint64_t offset, std::uint64_t size) {
  return allocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size);
}

#else  // elsewhere files are written without a mapping, and keep their space

int reserve(int /*fd*/, std::uint64_t /*offset*/, std::uint64_t size) {
  return size == 0 ? 0 : EOPNOTSUPP;
}

int punch(int /*fd*/, std::uint64_t /*offset*/, std::uint64_t /*size*/) {
  return EOPNOTSUPP;
}

#endif

}  // namespace joust

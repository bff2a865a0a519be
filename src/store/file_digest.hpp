// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>

#include "base/digest.hpp"
#include "joust/file.hpp"

namespace joust {

// The digest of the first `size` bytes of a file, made in slices: a gigabyte takes a good part of a second,
// and other sessions share the thread. Bytes that were in memory anyway need not be read again.
class FileDigest {
 public:
  explicit FileDigest(std::uint64_t size) : size_(size) {}

  // Bytes of the file at `offset`; without effect unless they go on where the digest stands.
  void seen(std::uint64_t offset, Bytes bytes);
  // They may be others now.
  void forget();
  // Reads one slice. True when through; the errno, or 0 for a file that is shorter than it should be.
  std::expected<bool, int> advance(const File& file);
  // The same, and no further than `end`.
  std::expected<bool, int> advance(const File& file, std::uint64_t end);

  std::uint64_t done() const { return done_; }  // bytes; any thread
  Digest value() const { return digester_.value(); }

 private:
  std::uint64_t size_;
  std::atomic<std::uint64_t> done_{0};
  Digester digester_;
};

// Keeps of what is written to it, from front to back, nothing but the digest. One thread at a time.
class DigestedFile : public File {
 public:
  explicit DigestedFile(std::uint64_t size) : digest_(size) {}
  std::expected<std::size_t, int> read_at(std::uint64_t, std::span<std::byte>) const override { return 0; }
  std::expected<std::size_t, int> write_at(std::uint64_t offset, Bytes bytes) override {
    digest_.seen(offset, bytes);
    return bytes.size();
  }
  Digest value() const { return digest_.value(); }

 private:
  FileDigest digest_;
};

}  // namespace joust

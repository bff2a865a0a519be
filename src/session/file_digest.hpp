// SPDX-License-Identifier: MIT
#pragma once

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

  std::uint64_t done() const { return done_; }  // bytes
  Digest value() const { return digester_.value(); }

 private:
  std::uint64_t size_;
  std::uint64_t done_ = 0;
  Digester digester_;
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#include "store/file_digest.hpp"

#include <algorithm>
#include <memory>

namespace joust {
namespace {

constexpr std::size_t kRead = 128 << 10;  // fits into a core's own cache
constexpr std::size_t kSlice = 4 << 20;   // about a millisecond

}  // namespace

void FileDigest::seen(std::uint64_t offset, Bytes bytes) {
  if (offset != done_) return;
  digester_.add(bytes);
  done_ += bytes.size();
}

void FileDigest::forget() {
  digester_ = Digester();
  done_ = 0;
}

std::expected<bool, int> FileDigest::advance(const File& file) {
  return advance(file, size_);
}

std::expected<bool, int> FileDigest::advance(const File& file, std::uint64_t end) {
  thread_local const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kRead);
  const std::uint64_t until = std::min<std::uint64_t>(done_ + kSlice, std::min(end, size_));
  while (done_ < until) {
    const std::size_t most = std::min<std::uint64_t>(kRead, until - done_);
    const auto read = file.read_at(done_, {buffer.get(), most});
    if (!read) return std::unexpected(read.error());
    if (*read == 0) return std::unexpected(0);
    digester_.add({buffer.get(), *read});
    done_ += *read;
  }
  return done_ == size_;
}

}  // namespace joust

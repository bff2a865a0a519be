// SPDX-License-Identifier: MIT
#include "files/store/failed_syncs.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/digest.hpp"

namespace joust {
namespace {

bool is_of_disk(int error) {
  return error == EIO || error == ENOSPC || error == EDQUOT;
}

// Includes the time of the last change: a file that is removed and made again often has the same inode, size
// and time of modification.
std::uint64_t key_of(const FileVersion& file) {
  const std::array facts{file.device, file.inode, file.size, static_cast<std::uint64_t>(file.modified_ns),
                         static_cast<std::uint64_t>(file.changed_ns)};
  return checksum(std::as_bytes(std::span(facts)));
}

}  // namespace

void FailedSyncs::note(const FileVersion& file, int error) {
  if (!is_of_disk(error) || has(file)) return;
  if (const std::size_t place = files_->count++; place < kMost) files_->keys[place] = key_of(file);
}

bool FailedSyncs::has(const FileVersion& file) const {
  const std::size_t count = files_->count;
  if (count == 0) return false;
  if (count > kMost) return true;
  return std::ranges::any_of(std::span(files_->keys).first(count),
                             [key = key_of(file)](const auto& noted) { return noted == key; });
}

}  // namespace joust

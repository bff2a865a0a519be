// SPDX-License-Identifier: MIT
#include "store/synced_folders.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "store/file_version.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostKnown = 4096;

}  // namespace

int SyncedFolders::sync(int folder) {
  const auto identity = identity_of_folder(folder);
  if (!identity) return errno;
  if (failed_.has(*identity)) return EIO;
  const Fd readable(
      retry_interrupted([&] { return ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!readable.is_open()) return errno == EACCES ? 0 : errno;
  if (retry_interrupted([&] { return ::fsync(readable.get()); }) == 0) return 0;
  const int error = errno;
  failed_.note(*identity, error);
  return error;
}

bool SyncedFolders::contains(int folder) const {
  const auto identity = identity_of_folder(folder);
  const std::lock_guard lock(mutex_);
  return identity && known_.contains(*identity);
}

void SyncedFolders::add(int folder) {
  const auto identity = identity_of_folder(folder);
  if (!identity) return;
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_.insert(*identity);
}

}  // namespace joust

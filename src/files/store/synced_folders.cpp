// SPDX-License-Identifier: MIT
#include "files/store/synced_folders.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/system/sync_file_system.hpp"
#include "files/store/file_version.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostKnown = 4096;

bool is_on_one_file_system(int folder, int file) {
  struct stat one {
  }, other{};
  return ::fstat(folder, &one) == 0 && ::fstat(file, &other) == 0 && one.st_dev == other.st_dev;
}

}  // namespace

int SyncedFolders::sync(int folder, int file) {
  const auto identity = identity_of_folder(folder);
  if (!identity) return errno;
  if (failed_.has(*identity)) return EIO;
  const Fd readable(
      retry_interrupted([&] { return ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  const bool may_be_read = readable.is_open() || errno != EACCES;
  if (!readable.is_open() && may_be_read) return errno;
  if (!may_be_read && !is_on_one_file_system(folder, file)) return EACCES;
  const auto sync = [&] { return may_be_read ? ::fsync(readable.get()) : sync_file_system(file); };
  if (retry_interrupted(sync) == 0) return 0;
  if (errno == ENOSYS) return EACCES;
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

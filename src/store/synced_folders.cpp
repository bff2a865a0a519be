// SPDX-License-Identifier: MIT
#include "store/synced_folders.hpp"

#include <sys/stat.h>

#include "base/system/birth_time.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostKnown = 4096;

}  // namespace

bool SyncedFolders::contains(int folder) const {
  const auto identity = identity_of(folder);
  const std::lock_guard lock(mutex_);
  return identity && known_.contains(*identity);
}

void SyncedFolders::add(int folder) {
  const auto identity = identity_of(folder);
  if (!identity) return;
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_.insert(*identity);
}

// The number of a directory that was removed is soon that of another one.
std::optional<SyncedFolders::Identity> SyncedFolders::identity_of(int folder) {
  struct stat facts {};
  if (::fstat(folder, &facts) != 0) return std::nullopt;
  return Identity{facts.st_dev, facts.st_ino, birth_time_ns(folder)};
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#include "store/synced_folders.hpp"

#include <sys/stat.h>

namespace joust {
namespace {

constexpr std::size_t kMostKnown = 4096;

}  // namespace

bool SyncedFolders::contains(int folder) const {
  struct stat facts {};
  if (::fstat(folder, &facts) != 0) return false;
  const std::lock_guard lock(mutex_);
  return known_.contains({facts.st_dev, facts.st_ino});
}

void SyncedFolders::add(int folder) {
  struct stat facts {};
  if (::fstat(folder, &facts) != 0) return;
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_.emplace(facts.st_dev, facts.st_ino);
}

}  // namespace joust

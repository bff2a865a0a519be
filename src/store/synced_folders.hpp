// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <mutex>
#include <set>
#include <utility>

namespace joust {

// The directories whose own names are known to be on the disk. Each has to be synced once, and not again with
// every file that comes into it. Any thread.
class SyncedFolders {
 public:
  bool contains(int folder) const;
  void add(int folder);

 private:
  mutable std::mutex mutex_;
  std::set<std::pair<dev_t, ino_t>> known_;
};

}  // namespace joust

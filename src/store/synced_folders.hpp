// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>

namespace joust {

// The directories whose own names are known to be on the disk. Each has to be synced once, and not again with
// every file that comes into it. Any thread.
class SyncedFolders {
 public:
  bool contains(int folder) const;
  void add(int folder);

 private:
  using Identity = std::tuple<dev_t, ino_t, std::int64_t>;

  static std::optional<Identity> identity_of(int folder);

  mutable std::mutex mutex_;
  std::set<Identity> known_;
};

}  // namespace joust

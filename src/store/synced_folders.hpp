// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <set>

#include "store/failed_syncs.hpp"
#include "store/storage.hpp"

namespace joust {

// What is known of directories and the disk. All are handles of directories; any thread.
class SyncedFolders {
 public:
  explicit SyncedFolders(FailedSyncs& failed) : failed_(failed) {}  // borrowed

  // Puts the names in a directory onto the disk. The handle can do nothing, so that it is opened again: a
  // directory that may be written to but not read cannot be synced, and its names are as durable as the file
  // system makes them by itself. Returns the errno, or 0: EIO also where the disk has failed to take names of
  // this directory before.
  int sync(int folder);

  // Those whose own names are known to be on the disk. Each has to be synced once, and not again with every
  // file that comes into it.
  bool contains(int folder) const;
  void add(int folder);

 private:
  mutable std::mutex mutex_;
  std::set<FileVersion> known_;
  FailedSyncs& failed_;
};

}  // namespace joust

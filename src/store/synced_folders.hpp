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

  // Puts the names in a directory onto the disk. The handle can do nothing, so that it is opened again. One
  // that may be written to but not read cannot be opened: the whole file system of `file`, which is open in
  // it or below it, is synced in its place; -1: there is no such file. Returns the errno, or 0: EIO also
  // where the disk has failed to take names of this directory before, EACCES where there is no way.
  int sync(int folder, int file);

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

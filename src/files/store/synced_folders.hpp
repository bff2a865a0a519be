// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <set>

#include "files/store/failed_syncs.hpp"
#include "files/store/storage.hpp"

namespace joust {

// Syncs directories, and remembers which of them are on the disk. All `folder` arguments are handles of
// directories. Any thread.
class SyncedFolders {
 public:
  explicit SyncedFolders(FailedSyncs& failed) : failed_(failed) {}  // borrowed

  // Puts the names in a directory onto the disk. A handle cannot be synced, so the directory is opened again.
  // A directory that may be written to but not read cannot be opened: then the whole file system of `file` is
  // synced. `file` is open in the directory or below it; -1: no such file. Returns the errno, or 0: EIO also
  // if the disk has failed to take names of this directory before, EACCES if it cannot be synced in either
  // way.
  int sync(int folder, int file);

  // The directories whose own names are known to be on the disk. Each is synced once, and not again with
  // every file that is added to it.
  bool contains(int folder) const;
  void add(int folder);

 private:
  mutable std::mutex mutex_;
  std::set<FileVersion> known_;
  FailedSyncs& failed_;
};

}  // namespace joust

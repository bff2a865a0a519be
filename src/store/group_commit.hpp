// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <expected>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "store/digest_worker.hpp"
#include "store/file_tree.hpp"

namespace joust {

// Publishes synced files in groups. A disk takes about as long for a hundred small files as for one: it is
// given the bytes of all, then asked for each file, and once for each folder. A group is what has come while
// the one before was under way. On a thread of its own.
class GroupCommit {
 public:
  struct File {
    NewFile* place = nullptr;  // borrowed, like its descriptor, until `published` is called
    int fd = -1;
    // What publish() returns. Called on the thread; may hold the last reference to the file's owner.
    std::function<void(std::expected<ReplacedBytes, int>)> published{};

    // While the group is under way.
    std::expected<ReplacedBytes, int> result{};
    std::pair<dev_t, ino_t> folder{};
  };

  GroupCommit() = default;
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Any thread. False if no thread can be started: the caller then publishes the file itself.
  bool add(File file);

 private:
  void commit_those_waiting();

  std::mutex mutex_;
  std::vector<File> waiting_;
  DigestWorker worker_;  // destroyed first: no group is begun after that
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "store/digest_worker.hpp"
#include "store/file_tree.hpp"

namespace joust {

// Bytes from which on a file is no member of a group: the disk may take a while, and the others would wait.
inline constexpr std::uint64_t kPublishedAlone = 4 << 20;

// Publishes synced files in groups. A disk takes about as long for a hundred small files as for one: it is
// given the bytes of all, then asked for each file, and once for each folder. A group is what has come while
// the one before was under way. On a thread of its own.
class GroupCommit {
 public:
  // A file whose bytes are all there, and right, or a directory. Nothing of it is touched by others while it
  // is waited for.
  class Member {
   public:
    virtual NewFile& place() = 0;
    virtual int number() const = 0;  // of the open file; -1: a directory that cannot be opened for a sync
    // What publish() returns. On the thread.
    virtual void committed(std::expected<ReplacedBytes, int> published) = 0;

    // Without a group: this thread waits for the disk.
    void publish_alone();

   protected:
    ~Member() = default;
  };

  GroupCommit();
  ~GroupCommit();  // ends a group between two files: what has no name by then gets none
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Any thread. A file that nobody refers to any more when its group begins is left out: its connection is
  // gone. False if no thread can be started: the caller then publishes the file itself.
  bool add(const std::shared_ptr<Member>& file);

  // Files that were added and not committed. Any thread.
  std::size_t waiting() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct File {
    std::shared_ptr<Member> member;
    std::expected<ReplacedBytes, int> result{};
    std::pair<dev_t, ino_t> folder{};
  };

  void run();
  bool gather();  // false: nobody waits
  void commit();
  void find_folders();
  void take_names();
  void sync_folders();
  template <typename Step>
  void each_that_goes_on(Step step);

  std::mutex mutex_;
  std::deque<std::weak_ptr<Member>> waiting_;
  bool running_ = false;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> ending_{false};
  std::vector<File> group_;  // of the thread, and never longer than it was made
  DigestWorker worker_;      // destroyed first: no group is under way after that
};

}  // namespace joust

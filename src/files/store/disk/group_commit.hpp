// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "files/store/disk/file_tree.hpp"
#include "files/store/file_digest.hpp"

namespace joust {

// The size in bytes from which on a file is published alone: the disk may take long, and the other members of
// a group would wait.
inline constexpr std::uint64_t kPublishedAlone = 4 << 20;

// One of the files that are published together, and what has become of it.
struct Publication {
  NewFile* file = nullptr;  // borrowed
  int fd = -1;              // its descriptor, borrowed; -1: a directory that cannot be opened for a sync
  std::expected<ReplacedBytes, int> result{};  // the errno on failure

  std::optional<std::pair<dev_t, ino_t>> synced_folder{};  // used by publish()
};

// Gives files their names, atomically for each. `synced`: the disk has each file before it has the name, and
// has the name at the end. Each step is done for all files before the next one, and a folder is synced once
// for all files in it. The error of a step is the file's result, and ends its publication: EEXIST if an
// existing file must be kept, ENOENT if its path no longer leads to its folder, ECANCELED if `ending` has
// become true. A file that the disk did not take is abandoned.
void publish(std::span<Publication> files, bool synced, const std::atomic<bool>* ending = nullptr);
std::expected<ReplacedBytes, int> publish(NewFile& file, int fd, bool synced);  // one file

// Publishes synced files on threads of its own: small ones in groups, and large ones alone. A disk takes
// about as long for a hundred small files as for one: it is given the bytes of all files, then synced for
// each file, and once for each folder. A group consists of the files that were added while the group before
// was under way.
class GroupCommit {
 public:
  // A file whose bytes are complete and correct, or a directory. No other thread touches it until committed()
  // is called.
  class Member {
   public:
    virtual NewFile& new_file() = 0;
    // Returns the descriptor of the file; -1: a directory that cannot be opened for a sync.
    virtual int number() const = 0;
    // Receives the result of publish(). Called on the thread that publishes.
    virtual void committed(std::expected<ReplacedBytes, int> published) = 0;

    // Publishes without a group: the calling thread waits for the disk.
    void publish_alone();

   protected:
    ~Member() = default;
  };

  GroupCommit();
  ~GroupCommit();  // ends a group between two files: files without a name by then get none
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Adds a file to the next group. Any thread. A file without references when its group begins is left out:
  // its connection has ended. Returns false if no thread can be started: the caller then publishes the file
  // itself.
  bool add(const std::shared_ptr<Member>& file);
  // Calls `publish` beside the groups, after those that were added before it: it publishes one large file,
  // and must not throw. Any thread. Returns false as above.
  bool add_alone(std::function<void()> publish) { return alone_.take(std::move(publish)); }

  // The number of files that wait for the disk: those added to groups and not committed, and the large ones
  // that are not begun. Any thread.
  std::size_t waiting() const { return count_.load(std::memory_order_relaxed) + alone_.waiting(); }

 private:
  void run();
  bool gather();  // false: no file waits

  std::mutex mutex_;
  std::deque<std::weak_ptr<Member>> waiting_;
  bool running_ = false;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> ending_{false};
  // The group under way, used by the thread only; never longer than its reserved size.
  std::vector<std::shared_ptr<Member>> members_;
  std::vector<Publication> files_;
  BackgroundThread alone_;   // for large files
  BackgroundThread worker_;  // for groups; destroyed first: no group is under way after that
};

}  // namespace joust

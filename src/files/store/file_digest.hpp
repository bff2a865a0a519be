// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <mutex>
#include <thread>

#include "base/bytes.hpp"
#include "joust/file.hpp"

namespace joust {

// The digest of the first `size` bytes of a file, made in slices, because a gigabyte takes a good part of a
// second and other sessions share the thread. Bytes that are in memory need not be read again.
class FileDigest {
 public:
  explicit FileDigest(std::uint64_t size) : size_(size) {}

  // Digests bytes of the file at `offset`; without effect unless they follow directly on those digested.
  void seen(std::uint64_t offset, Bytes bytes);
  // Remembers this position, so that forget_from() can return to it.
  void mark();
  // Forgets the bytes from `offset` on, which may have changed: returns to the last mark if that is not
  // beyond `offset`, and otherwise starts again. Allocates no memory.
  void forget_from(std::uint64_t offset);
  // Reads and digests one slice. Returns true at the end. Fails with the errno, or with 0 if the file is too
  // short.
  std::expected<bool, int> advance(const File& file);
  // The same, but not beyond `end`.
  std::expected<bool, int> advance(const File& file, std::uint64_t end);

  std::uint64_t done() const { return done_; }  // bytes; any thread
  Digest value() const { return digester_.value(); }

 private:
  std::uint64_t size_;
  std::atomic<std::uint64_t> done_{0};
  Digester digester_;
  std::uint64_t mark_ = 0;
  Digester marked_;  // the digest of the bytes before the mark
};

// A file that digests what is written from front to back, and discards it. One thread at a time.
class DigestedFile : public File {
 public:
  explicit DigestedFile(std::uint64_t size) : digest_(size) {}
  std::expected<std::size_t, int> read_at(std::uint64_t, std::span<std::byte>) const override { return 0; }
  std::expected<std::size_t, int> write_at(std::uint64_t offset, Bytes bytes) override {
    digest_.seen(offset, bytes);
    return bytes.size();
  }
  Digest value() const { return digest_.value(); }

 private:
  FileDigest digest_;
};

// A thread for tasks beside the threads that store: it reads spliced upload data again to digest it, or waits
// for the disk. With a spare core, the digest then does not slow the transfer. The thread starts with the
// first task.
class BackgroundThread {
 public:
  BackgroundThread() = default;
  ~BackgroundThread();  // drops the tasks that have not begun

  // Adds a task, which must not throw. Any thread. False if no thread can be started: the caller then does
  // the work.
  bool take(std::function<void()> work);

  // Waits until no task is left.
  void finish();

  std::size_t waiting() const;  // tasks that have not begun

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable more_, idle_;
  std::deque<std::function<void()>> waiting_;
  bool is_working_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace joust

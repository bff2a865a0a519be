// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace joust {

// A thread for tasks beside the threads that store: it reads spliced upload data again to digest it, or waits
// for the disk. With a spare core, the digest then does not slow the transfer. The thread starts with the
// first task.
class DigestWorker {
 public:
  DigestWorker() = default;
  ~DigestWorker();  // drops the tasks that have not begun

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

// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>

#include <functional>
#include <optional>

namespace joust {

// A thread with a stack small enough that thousands fit in one process, and which can be told something while
// it is asleep in a system call. start, interrupt and join are for one thread, its owner.
class SmallThread {
 public:
  SmallThread() = default;
  SmallThread(const SmallThread&) = delete;
  SmallThread& operator=(const SmallThread&) = delete;
  ~SmallThread() { join(); }

  // `body` must not throw. Throws std::system_error, EAGAIN as a rule, where the machine has no thread left.
  void start(std::function<void()> body);

  // Whatever the thread is asleep in returns EINTR. What it is only about to call does not: repeat this until
  // the thread has shown that it noticed.
  void interrupt();

  void join();

 private:
  std::optional<pthread_t> thread_;
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>

#include <functional>
#include <optional>

namespace joust {

// A thread with a stack small enough that thousands fit in one process. It can be interrupted while it sleeps
// in a system call. start, interrupt and join are for one thread, its owner.
class SmallThread {
 public:
  SmallThread() = default;
  SmallThread(const SmallThread&) = delete;
  SmallThread& operator=(const SmallThread&) = delete;
  ~SmallThread() { join(); }

  // Starts the thread. `body` must not throw. Throws std::system_error, usually EAGAIN, if the machine has no
  // thread left.
  void start(std::function<void()> body);

  // Interrupts the system call in which the thread sleeps: it returns EINTR. A call that the thread has not
  // begun yet is not interrupted, so repeat this until the thread has reacted.
  void interrupt();

  void join();

 private:
  std::optional<pthread_t> thread_;
};

}  // namespace joust

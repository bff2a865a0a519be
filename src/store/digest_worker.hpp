// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace joust {

// Reads back, beside the threads that store, what went past them inside the kernel: where a core is to spare,
// the digest of an upload then costs the transfer nothing. Its thread begins with the first work.
class DigestWorker {
 public:
  DigestWorker() = default;
  ~DigestWorker();  // what has not begun by then is dropped

  // Work that does not throw. Any thread. False when no thread can be had: the caller does it then.
  bool take(std::function<void()> work);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> waiting_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace joust

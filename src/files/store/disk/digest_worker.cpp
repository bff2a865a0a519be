// SPDX-License-Identifier: MIT
#include "files/store/disk/digest_worker.hpp"

#include <system_error>
#include <utility>

namespace joust {

DigestWorker::~DigestWorker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool DigestWorker::take(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    try {
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
    waiting_.push_back(std::move(work));
  }
  more_.notify_one();
  return true;
}

void DigestWorker::finish() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return waiting_.empty() && !is_working_; });
}

std::size_t DigestWorker::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void DigestWorker::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    more_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    {
      const auto work = std::move(waiting_.front());
      waiting_.pop_front();
      is_working_ = true;
      lock.unlock();
      work();
    }  // the task may hold the last reference to an upload, whose end takes locks of its own
    lock.lock();
    is_working_ = false;
    idle_.notify_all();
  }
}

}  // namespace joust

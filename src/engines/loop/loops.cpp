// SPDX-License-Identifier: MIT
#include "engines/loop/loops.hpp"

#include <exception>
#include <thread>

#include "base/sigpipe.hpp"

namespace joust {

void Inbox::put(Fd socket) {
  {
    const std::lock_guard lock(mutex_);
    sockets_.push_back(std::move(socket));
  }
  waker_.wake();
}

std::vector<Fd> Inbox::take() {
  waker_.clear();
  const std::lock_guard lock(mutex_);
  return std::exchange(sockets_, {});
}

void LoopGroup::end_dealing() {
  dealing_ended_.store(true, std::memory_order_release);
  for (Inbox& inbox : inboxes_) inbox.waker().wake();
}

void pause_for_shortage() {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void run_loops(std::size_t loops, Stop& stop, const std::function<void(std::size_t)>& loop) {
  std::mutex mutex;
  std::exception_ptr first;
  const auto guarded = [&](std::size_t index) {
    const SigpipeBlock block;  // for send_file()
    try {
      loop(index);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
      stop.request();
      stop.request();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t index = 1; index < loops; ++index) others.emplace_back(guarded, index);
    guarded(0);
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace joust

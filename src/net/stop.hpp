// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "base/memory.hpp"
#include "base/system/events.hpp"
#include "joust/service.hpp"

namespace joust {

// Wakes a loop that waits for fd() to become readable. Several wakes before the loop's next look count as
// one.
class Waker : public Wakeable {
 public:
  void wake() override;
  void clear();  // call in the loop, before it looks for work: later work wakes it again
  int fd() const { return event_.fd(); }

 private:
  EventDescriptor event_;
  std::atomic<bool> pending_{false};
};

// The request to end, for engines that wait on descriptors: a descriptor becomes readable and stays so. After
// the first request an engine drains: it accepts and dials no more, finishes open work and ends within its
// drain limit. After the second request it ends at once. All methods: any thread, and any process that was
// forked since; request() also from a signal handler.
class Stop {
 public:
  void request();
  bool requested() const { return level_->load(std::memory_order_acquire) > 0; }
  bool at_once() const { return level_->load(std::memory_order_acquire) > 1; }
  int fd() const { return event_.fd(); }
  // Returns a descriptor that becomes readable, and stays so, after the second request. For engines that wait
  // for changes only, and would not see one in fd().
  int at_once_fd() const { return again_.fd(); }

 private:
  EventDescriptor event_;
  EventDescriptor again_;
  SharedMemory<std::atomic<int>> level_{0};
};

}  // namespace joust

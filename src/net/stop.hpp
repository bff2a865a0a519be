// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "base/shared_memory.hpp"
#include "base/system/event.hpp"

namespace joust {

// The request to end, as an engine waits for it: a descriptor that becomes readable and stays so. Asked once,
// an engine drains: it accepts and dials no more, finishes what was begun and ends within its drain limit.
// Asked again, it ends at once. All methods: any thread, and any process that was forked since; request()
// also from a signal handler.
class Stop {
 public:
  void request();
  bool requested() const { return level_->load(std::memory_order_acquire) > 0; }
  bool at_once() const { return level_->load(std::memory_order_acquire) > 1; }
  int fd() const { return event_.fd(); }
  // Readable, likewise, once asked again. For engines that wait for a change only, and would see none in
  // fd().
  int at_once_fd() const { return again_.fd(); }

 private:
  EventDescriptor event_;
  EventDescriptor again_;
  SharedMemory<std::atomic<int>> level_{0};
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "base/fd.hpp"
#include "engines/engine.hpp"
#include "net/stop.hpp"
#include "net/waker.hpp"

namespace joust {

// Sockets on their way to the loop that will serve them, and the means to wake it.
class Inbox {
 public:
  void put(Fd socket);     // any thread
  std::vector<Fd> take();  // the loop's; clears the waker first
  Waker& waker() { return waker_; }

 private:
  Waker waker_;
  std::mutex mutex_;
  std::vector<Fd> sockets_;
};

// What the loops of one engine run share. Loop 0 accepts, and deals the connections out in turn: exactly
// even, which a listener per loop (SO_REUSEPORT) is only on average, and the same for unix sockets, which
// have none.
class LoopGroup {
 public:
  explicit LoopGroup(std::size_t loops) : inboxes_(loops) {}

  std::size_t size() const { return inboxes_.size(); }
  Inbox& inbox(std::size_t loop) { return inboxes_[loop]; }
  std::size_t next_in_turn() { return turn_++ % inboxes_.size(); }  // loop 0 only

  // Loop 0 will deal out no more: what is in the inboxes now is the last. The other loops are woken, because
  // a stop waits for this there, or a connection on its way to a loop that has ended would be lost.
  void end_dealing();
  bool dealing_ended() const { return dealing_ended_.load(std::memory_order_acquire); }

  // Connections open in all loops, for Limits::connections.
  std::atomic<std::size_t> open{0};

 private:
  std::vector<Inbox> inboxes_;
  std::size_t turn_ = 0;
  std::atomic<bool> dealing_ended_{false};
};

// A wait has failed for want of kernel memory. Sleeps for a moment, because a loop without a wait would burn
// its core.
void pause_for_shortage();

// Runs `loop(index, begin)` on `loops` threads, the calling one included, and waits for all. A loop calls
// begin() when it has all that it needs, and so waits for the others: where one cannot begin, nobody has been
// served yet. When one throws, the others are stopped and the first exception is thrown here.
using Begin = std::function<void()>;
void run_loops(std::size_t loops, Stop& stop,
               const std::function<void(std::size_t index, const Begin& begin)>& loop);

// Engine::run of an engine whose loops are objects of the class Loop, which `args` are given to.
template <typename Loop, typename... Args>
void run_loops(const Hosting& hosting, Stop& stop, const Args&... args) {
  LoopGroup group(hosting.options.threads);
  run_loops(group.size(), stop, [&](std::size_t index, const Begin& begin) {
    Loop loop(hosting, stop, group, index, args...);
    begin();
    loop.read_clock();  // the others have taken their time, which no limit counts
    loop.run();
  });
}

}  // namespace joust

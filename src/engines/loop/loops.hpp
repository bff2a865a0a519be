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

namespace joust {

// The sockets that loop 0 has accepted for one loop, with a waker for that loop.
class Inbox {
 public:
  void put(Fd socket);     // called by any thread
  std::vector<Fd> take();  // called by the loop's thread; clears the waker first
  Waker& waker() { return waker_; }

 private:
  Waker waker_;
  std::mutex mutex_;
  std::vector<Fd> sockets_;
};

// The state shared by the loops of one run. Loop 0 accepts and deals the connections out in turn. That is
// exactly even; a listener per loop (SO_REUSEPORT) is even only on average, and not possible for unix
// sockets.
class LoopGroup {
 public:
  explicit LoopGroup(std::size_t loops) : inboxes_(loops) {}

  std::size_t size() const { return inboxes_.size(); }
  Inbox& inbox(std::size_t loop) { return inboxes_[loop]; }
  std::size_t next_in_turn() { return turn_++ % inboxes_.size(); }  // loop 0 only

  // Records that loop 0 will deal out no more connections. Wakes the other loops, which wait for this during
  // a stop: a connection dealt to a loop that has ended would be lost.
  void end_dealing();
  bool dealing_ended() const { return dealing_ended_.load(std::memory_order_acquire); }

  // Keeps a socket open until all loops have ended, and returns its descriptor. Called by any thread.
  int keep(Fd socket);

  // Counts a connection of `loop` as ended. Wakes loop 0, which may wait for a place at the connection limit.
  void closed(const Hosting& hosting, std::size_t loop);

  // The number of connections open in all loops, for Limits::connections.
  std::atomic<std::size_t> open{0};

 private:
  std::vector<Inbox> inboxes_;
  std::size_t turn_ = 0;
  std::atomic<bool> dealing_ended_{false};
  std::mutex mutex_;
  std::vector<Fd> kept_;
};

// Call after a wait has failed for lack of kernel memory. Sleeps for a moment, because the loop would
// otherwise spin.
void pause_for_shortage();

// Call after a waiting call has failed, with errno set: returns if the call may be repeated, after a pause at
// a shortage of kernel memory. Throws std::system_error, with the name of the call, for any other error.
void wait_failed(const Hosting& hosting, const char* call);

// Runs `loop(index, begin)` on `loops` threads, including the calling one, and waits for all. A loop calls
// begin() once it has its resources; begin() waits for the other loops, so no peer is served if a loop cannot
// begin. If all can, `ready` is then called on the calling thread. When a loop throws, the others are stopped
// and the first exception is thrown here.
using Begin = std::function<void()>;
void run_loops(std::size_t loops, Stop& stop,
               const std::function<void(std::size_t index, const Begin& begin)>& loop,
               const std::function<void()>& ready = {});

// Engine::run for an engine whose loops are objects of the class Loop, constructed with `args`.
template <typename Loop, typename... Args>
void run_loops(const Hosting& hosting, Stop& stop, const Args&... args) {
  LoopGroup group(hosting.options.threads);
  const auto run = [&](std::size_t index, const Begin& begin) {
    Loop loop(hosting, stop, group, index, args...);
    begin();
    loop.read_clock();  // again, because waiting for the other loops must not count for any limit
    loop.run();
  };
  run_loops(group.size(), stop, run, hosting.on_ready);
}

}  // namespace joust

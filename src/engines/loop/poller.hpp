// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace joust {

// A descriptor that a poller watches: a peer's socket, or a door by which something else comes in.
struct Watched {
  enum class Kind : std::uint8_t { peer, shared, listener, inbox, stop };  // shared: a socket of many peers
  static constexpr unsigned kUnwatched = ~0U;

  Kind kind = Kind::peer;
  unsigned armed = kUnwatched;  // for the poller: the events watched
  std::size_t place = 0;        // for the poller
};

// The doors of a loop that every one has.
struct Doors {
  Watched stop{Watched::Kind::stop}, inbox{Watched::Kind::inbox};
};

// Events beside POLLIN and POLLOUT; 0 is none.
inline constexpr unsigned kReset = 1U << 16;  // nothing is wanted, and a reset is to be noticed
inline constexpr unsigned kOnce = 1U << 17;   // one report, and then none until it is watched again

// The manner in which a readiness interface reports.
struct Reports {
  bool changes = false;  // a change once (edge-triggered): input is watched all the time
  bool resets = true;    // the reset of a peer from which nothing is wanted
};

// A poller is the page of one readiness interface of the kernel, or of a library. A loop has one, in one
// thread (with kOnce: watch() from any thread, for one peer by one at a time), and asks it for four things:
//
//   Reports reports() const;
//   void watch(int fd, Watched& what, unsigned events);   from now on; throws std::system_error
//   void forget(int fd, Watched& what);                   the descriptor is about to be closed
//   void wait(Loop& loop, Duration most);                 one wait: its result to loop.woken(), and then each
//                                                         descriptor that is ready to loop.ready()

// For a library that reports what is ready by callbacks, in place of a list. No exception may pass
// through the library, which is written in C: the first one waits until the library's loop has returned.
class CalledBack {
 public:
  // Runs the step of a callback. The first one of a wait reads the loop's clock.
  template <typename Loop, typename Step>
  void step(Loop& loop, Step&& step) noexcept {
    try {
      if (!std::exchange(called_, true)) loop.read_clock();
      loop.found_work();
      step();
    } catch (...) {
      if (!error_) error_ = std::current_exception();
    }
  }
  // Call it when the library's wait has returned. Returns whether there was a callback, and throws what one
  // has thrown.
  template <typename Loop>
  bool finish(Loop& loop) {
    if (!called_) loop.read_clock();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return std::exchange(called_, false);
  }

  // For a poller: runs the library's wait, whose callbacks report what is ready.
  template <typename Loop, typename Wait>
  void during(Loop& loop, Wait&& wait) {
    loop_ = &loop;
    ready_ = [](CalledBack& self, Watched& what, unsigned events) {
      Loop& waiting = *static_cast<Loop*>(self.loop_);
      self.step(waiting, [&] { waiting.ready(what, events); });
    };
    wait();
    finish(loop);
  }
  void report(Watched& what, unsigned events) noexcept { ready_(*this, what, events); }

 private:
  void* loop_ = nullptr;
  void (*ready_)(CalledBack&, Watched&, unsigned) = nullptr;
  bool called_ = false;  // in this wait
  std::exception_ptr error_;
};

// The library's watchers of sockets, by descriptor. A watcher is made once, and serves all sockets that get
// this number one after the other.
template <typename Watcher>
class Watchers {
 public:
  Watcher& of(int fd) {
    const auto place = static_cast<std::size_t>(fd);
    if (place >= by_fd_.size()) by_fd_.resize(place + 1);
    if (!by_fd_[place]) by_fd_[place] = std::make_unique<Watcher>();
    return *by_fd_[place];
  }

 private:
  std::vector<std::unique_ptr<Watcher>> by_fd_;
};

}  // namespace joust

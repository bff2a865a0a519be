// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "engines/loop/poller.hpp"

namespace joust {

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

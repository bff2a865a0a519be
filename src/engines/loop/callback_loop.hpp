// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace joust {

// A loop whose library reports what is ready by callbacks, in place of a list. No exception may pass through
// the library, which is written in C: the first one waits until the library's loop has returned. Core:
// ReadyLoop, or a LoopCore.
template <typename Core>
class CallbackLoop : public Core {
 public:
  using Core::Core;

 protected:
  // Runs the step of a callback that reports a ready descriptor. The first one of a turn reads the clock.
  template <typename Step>
  void on_event(Step&& step) noexcept {
    try {
      if (!std::exchange(has_begun_, true)) this->read_clock();
      this->found_work();
      step();
    } catch (...) {
      if (!error_) error_ = std::current_exception();
    }
  }

  // Call it when the library's loop has returned. Throws what a callback has thrown.
  void finish_callbacks() {
    was_called_ = std::exchange(has_begun_, false);
    if (!was_called_) this->read_clock();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  bool was_called() const { return was_called_; }  // in the last wait

 private:
  bool was_called_ = false;
  bool has_begun_ = false;  // a callback of this turn has run
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

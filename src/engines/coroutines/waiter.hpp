// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <utility>

namespace joust {

// The place where one coroutine at a time waits until the event loop resumes it: `co_await waiter`. A
// coroutine that is destroyed while it waits leaves the place, so the loop never resumes a frame that is
// gone. An awaitable with a condition of its own keeps its coroutine here by Stay. One thread.
class Waiter {
 public:
  bool is_waited_at() const { return static_cast<bool>(coroutine_); }
  // The coroutine, which waits no longer: for resume(), or for a symmetric transfer. None: a coroutine that
  // does nothing.
  std::coroutine_handle<> take() {
    return is_waited_at() ? std::exchange(coroutine_, nullptr) : std::noop_coroutine();
  }
  void resume() { take().resume(); }

  // The base of an awaitable. It lives in the frame of the coroutine, and ends with it.
  class Stay {
   public:
    explicit Stay(Waiter& waiter) : waiter_(waiter) {}
    ~Stay() { waiter_.coroutine_ = nullptr; }
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> coroutine) noexcept { waiter_.coroutine_ = coroutine; }
    void await_resume() const noexcept {}

   private:
    Waiter& waiter_;
  };
  Stay operator co_await() noexcept { return Stay(*this); }

 private:
  std::coroutine_handle<> coroutine_;
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <utility>

namespace joust {

// The place where one coroutine at a time waits until the event loop resumes it: `co_await waiter`. It holds
// no handle of a coroutine that was destroyed while it waited, so the loop never resumes a frame that is
// gone. An awaitable with a condition or a result of its own derives from Awaitable. Used by one thread.
class Waiter {
 public:
  bool is_waited_at() const { return static_cast<bool>(coroutine_); }
  // Returns the waiting coroutine, which then waits no longer: for resume(), or for a symmetric transfer.
  // Returns a coroutine that does nothing if none waits.
  std::coroutine_handle<> take() {
    return is_waited_at() ? std::exchange(coroutine_, nullptr) : std::noop_coroutine();
  }
  void resume() { take().resume(); }

  // Lives in the frame of the coroutine, and ends with it.
  class Awaitable {
   public:
    explicit Awaitable(Waiter& waiter) : waiter_(waiter) {}
    ~Awaitable() { waiter_.coroutine_ = nullptr; }
    Awaitable(const Awaitable&) = delete;
    Awaitable& operator=(const Awaitable&) = delete;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> coroutine) noexcept { waiter_.coroutine_ = coroutine; }
    void await_resume() const noexcept {}

   private:
    Waiter& waiter_;
  };
  Awaitable operator co_await() noexcept { return Awaitable(*this); }

 private:
  std::coroutine_handle<> coroutine_;
};

}  // namespace joust

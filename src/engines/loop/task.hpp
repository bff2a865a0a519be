// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

// The types with which engines write coroutines: Task, the type of a coroutine, and Waiter, the
// place where one waits for the event loop. Neither depends on sockets. Both are used by one thread.
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

template <typename Result = void>
class Task;

// Counts the coroutine frames of the calling thread. A frame that is never destroyed is a leak which no
// compiler reports, so tests check the count after a run.
class TaskFrames {
 public:
  static std::ptrdiff_t alive() { return alive_; }
  static std::size_t made() { return made_; }

 private:
  friend class TaskPromiseBase;
  static inline constinit thread_local std::ptrdiff_t alive_ = 0;
  static inline constinit thread_local std::size_t made_ = 0;
};

// The part of a coroutine's promise that does not depend on the result. The compiler demands its members.
class TaskPromiseBase {
 public:
  TaskPromiseBase() noexcept {
    ++TaskFrames::alive_;
    ++TaskFrames::made_;
  }
  ~TaskPromiseBase() { --TaskFrames::alive_; }
  TaskPromiseBase(const TaskPromiseBase&) = delete;
  TaskPromiseBase& operator=(const TaskPromiseBase&) = delete;

  // A task begins when it is awaited or started, so that its owner has it before it can end.
  std::suspend_always initial_suspend() const noexcept { return {}; }

  // A task that ends hands the thread to the coroutine that awaits it. Where the compiler optimizes, that is
  // a jump (symmetric transfer), and a chain of tasks of any length takes no more stack than one. Elsewhere,
  // as with a sanitizer, it is a call, so a loop over tasks that end at once needs a limit.
  struct Ending {
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      return ended.promise().continuation_;
    }
    void await_resume() const noexcept {}
  };
  Ending final_suspend() const noexcept { return {}; }

  void unhandled_exception() noexcept { error_ = std::current_exception(); }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }
  void continue_with(std::coroutine_handle<> awaiting) noexcept { continuation_ = awaiting; }

 private:
  std::coroutine_handle<> continuation_ = std::noop_coroutine();  // a started task returns to its caller
  std::exception_ptr error_;
};

template <typename Result>
class TaskPromise : public TaskPromiseBase {
 public:
  Task<Result> get_return_object() noexcept;
  void return_value(Result value) { result_.emplace(std::move(value)); }
  Result take() {
    rethrow();
    return std::move(*result_);
  }

 private:
  std::optional<Result> result_;
};

template <>
class TaskPromise<void> : public TaskPromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const { rethrow(); }
};

// A coroutine and its result. The task owns the frame: destroying a suspended task cancels it. The
// coroutine's local objects are destroyed as at a return, and with them the tasks that it awaits. So a
// coroutine needs no code for its cancellation, but must not be destroyed while it runs.
template <typename Result>
class [[nodiscard]] Task {
 public:
  using promise_type = TaskPromise<Result>;

  Task() = default;
  Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    Task(std::move(other)).swap(*this);
    return *this;
  }
  ~Task() {
    if (coroutine_) coroutine_.destroy();
  }

  // Runs a task that no coroutine awaits, until it waits for the first time or ends. An exception is thrown
  // later, by surface() or result().
  void start() const { coroutine_.resume(); }
  bool is_done() const { return coroutine_ && coroutine_.done(); }
  // Returns the result of a finished task, or throws its exception. May be called once.
  Result result() const { return coroutine_.promise().take(); }
  // Throws the exception with which the task has ended, if any. Called by the code that resumes the task.
  void surface() const {
    if (is_done()) coroutine_.promise().rethrow();
  }
  // Returns the address of the frame, for a prefetch; null if the task has no frame.
  const void* frame() const { return coroutine_ ? coroutine_.address() : nullptr; }

  // `co_await task` runs the task, and resumes with its result or its exception.
  auto operator co_await() const noexcept {
    struct Awaiting {
      std::coroutine_handle<promise_type> task;
      bool await_ready() const noexcept { return task.done(); }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const noexcept {
        task.promise().continue_with(awaiting);
        return task;
      }
      Result await_resume() const { return task.promise().take(); }
    };
    return Awaiting{coroutine_};
  }

 private:
  friend promise_type;
  explicit Task(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}
  void swap(Task& other) noexcept { std::swap(coroutine_, other.coroutine_); }

  std::coroutine_handle<promise_type> coroutine_;
};

template <typename Result>
Task<Result> TaskPromise<Result>::get_return_object() noexcept {
  return Task<Result>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

}  // namespace joust

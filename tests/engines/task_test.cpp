// SPDX-License-Identifier: MIT
//
// Tasks and waiters without a loop: order, results, exceptions, frames, and cancellation at each suspension.
#include "engines/loop/task.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>


namespace joust {
namespace {

class TaskTest : public testing::Test {
 protected:
  ~TaskTest() override { EXPECT_EQ(TaskFrames::alive(), alive_) << "frames are left"; }

  // Counts the objects that live in frames.
  class Local {
   public:
    explicit Local(TaskTest& test) : test_(test) { ++test_.locals_; }
    ~Local() { --test_.locals_; }
    Local(const Local&) = delete;
    Local& operator=(const Local&) = delete;

   private:
    TaskTest& test_;
  };

  Task<int> sum_of_two() {
    const Local local(*this);
    said_ += "a";
    co_await first_;
    said_ += "b";
    co_await second_;
    co_return 42;
  }
  Task<std::string> in_words() {
    const Local local(*this);
    const int sum = co_await sum_of_two();
    co_await third_;
    co_return std::to_string(sum);
  }
  Task<> whole() {
    const Local local(*this);
    while (true) {
      result_ = co_await in_words();
      co_await fourth_;
    }
  }
  Task<int> thrower() {
    const Local local(*this);
    co_await first_;
    throw std::runtime_error("in a nested task");
  }
  Task<> parent_of_thrower() {
    const Local local(*this);
    co_await thrower();
  }

  Waiter& waiting() {
    for (Waiter* waiter : waiters_)
      if (waiter->is_waited_at()) return *waiter;
    throw std::logic_error("nobody waits");
  }
  std::size_t waiting_count() const {
    std::size_t count = 0;
    for (const Waiter* waiter : waiters_) count += waiter->is_waited_at() ? 1 : 0;
    return count;
  }

  const std::ptrdiff_t alive_ = TaskFrames::alive();
  int locals_ = 0;
  std::string said_, result_;
  Waiter first_, second_, third_, fourth_;
  const std::array<Waiter*, 4> waiters_{&first_, &second_, &third_, &fourth_};
};

TEST_F(TaskTest, RunsNothingBeforeItIsStarted) {
  const Task<int> task = sum_of_two();
  EXPECT_EQ(said_, "");
  EXPECT_EQ(TaskFrames::alive(), alive_ + 1);
}

TEST_F(TaskTest, GivesItsResultToItsAwaiter) {
  const Task<std::string> task = in_words();
  task.start();
  EXPECT_EQ(said_, "a");
  first_.resume();
  EXPECT_EQ(said_, "ab");
  second_.resume();
  EXPECT_FALSE(task.is_done());
  third_.resume();
  ASSERT_TRUE(task.is_done());
  EXPECT_EQ(task.result(), "42");
}

TEST_F(TaskTest, AnExceptionOfANestedTaskSurfacesAtTheTop) {
  const Task<> task = parent_of_thrower();
  task.start();
  task.surface();  // nothing has been thrown yet
  first_.resume();
  ASSERT_TRUE(task.is_done());
  EXPECT_THROW(task.surface(), std::runtime_error);
  EXPECT_EQ(locals_, 0);
}

TEST_F(TaskTest, IsCancelledAtEverySuspension) {
  constexpr std::size_t kResumptions = 12;  // three times round
  for (std::size_t before = 0; before <= kResumptions; ++before) {
    {
      const Task<> task = whole();
      task.start();
      for (std::size_t i = 0; i < before; ++i) waiting().resume();
      EXPECT_EQ(waiting_count(), 1U);
      EXPECT_GT(TaskFrames::alive(), alive_);
    }
    EXPECT_EQ(TaskFrames::alive(), alive_) << "cancelled after resumption " << before;
    EXPECT_EQ(locals_, 0) << "cancelled after resumption " << before;
    EXPECT_EQ(waiting_count(), 0U) << "a frame that is gone would be resumed";
  }
}

TEST_F(TaskTest, IsCancelledBeforeItIsStarted) {
  { const Task<> task = whole(); }
  EXPECT_EQ(locals_, 0);
}

TEST_F(TaskTest, TakingTheFrameOfAnotherCancelsItsOwn) {
  Task<int> task = sum_of_two();
  task.start();
  task = sum_of_two();
  EXPECT_EQ(TaskFrames::alive(), alive_ + 1);
  EXPECT_FALSE(first_.is_waited_at());
  task.start();
  EXPECT_TRUE(first_.is_waited_at());
}

TEST_F(TaskTest, ResumingWhereNobodyWaitsDoesNothing) {
  first_.resume();
  const Task<int> task = sum_of_two();
  task.start();
  second_.resume();
  EXPECT_EQ(said_, "a");
}

// Without symmetric transfer each round would leave two calls on the stack. Instrumented code makes calls.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__OPTIMIZE__)
Task<> leaf(int& count) {
  ++count;
  co_return;
}
Task<> loop_of(int rounds, int& count) {
  for (int i = 0; i < rounds; ++i) co_await leaf(count);
}

TEST_F(TaskTest, ALongLoopOfTasksTakesNoStack) {
  int count = 0;
  const Task<> task = loop_of(2'000'000, count);
  task.start();
  EXPECT_TRUE(task.is_done());
  EXPECT_EQ(count, 2'000'000);
}
#endif

}  // namespace
}  // namespace joust

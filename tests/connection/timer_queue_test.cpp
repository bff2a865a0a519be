// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <vector>

#include "connection/timer_queue.hpp"

namespace joust {
namespace {

constexpr Time at(int second) {
  return Time(std::chrono::seconds(second));
}

TEST(TimerQueueTest, NothingIsDueInAnEmptyOne) {
  TimerQueue queue;
  EXPECT_EQ(queue.next(), std::nullopt);
  EXPECT_EQ(queue.pop_due(at(100)), nullptr);
}

TEST(TimerQueueTest, FiresInTheOrderOfTheDeadlines) {
  TimerQueue queue;
  std::array<Timed, 4> entries;
  const std::array due{30, 10, 40, 20};
  for (std::size_t i = 0; i < due.size(); ++i) queue.arm(entries[i], at(due[i]));
  EXPECT_EQ(queue.next(), at(10));
  EXPECT_EQ(queue.pop_due(at(9)), nullptr);
  EXPECT_EQ(queue.pop_due(at(30)), &entries[1]);
  EXPECT_EQ(queue.pop_due(at(30)), &entries[3]);
  EXPECT_EQ(queue.pop_due(at(30)), &entries[0]);
  EXPECT_EQ(queue.pop_due(at(30)), nullptr);
  EXPECT_EQ(queue.next(), at(40));
}

TEST(TimerQueueTest, ArmedForEarlierFiresEarlier) {
  TimerQueue queue;
  Timed first;
  Timed second;
  queue.arm(first, at(10));
  queue.arm(second, at(20));
  queue.arm(second, at(5));
  EXPECT_EQ(queue.pop_due(at(10)), &second);
}

TEST(TimerQueueTest, RemovedNeverFiresAndMayBeArmedAgain) {
  TimerQueue queue;
  Timed entry;
  queue.remove(entry);
  queue.arm(entry, at(10));
  queue.remove(entry);
  EXPECT_EQ(queue.pop_due(at(100)), nullptr);
  queue.arm(entry, at(20));
  EXPECT_EQ(queue.next(), at(20));
}

// Against the plainest thing that does the same: a list of who is queued, and when each was last armed for.
RC_GTEST_PROP(TimerQueueProperty, NobodyIsLostNobodyIsLate, ()) {
  constexpr std::size_t kEntries = 12;
  TimerQueue queue;
  std::array<Timed, kEntries> entries;
  std::array<std::optional<Time>, kEntries> expected;  // by when it must have fired
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, std::size_t, int>>>(rc::gen::tuple(
      rc::gen::inRange(0, 4), rc::gen::inRange<std::size_t>(0, kEntries), rc::gen::inRange(0, 50)));
  for (const auto& [what, which, second] : steps) {
    if (what <= 1) {
      queue.arm(entries[which], at(second));
      // Arming for later is free: it may still fire at the earlier time.
      expected[which] = std::min(expected[which].value_or(at(second)), at(second));
    } else if (what == 2) {
      queue.remove(entries[which]);
      expected[which].reset();
    } else {
      while (Timed* fired = queue.pop_due(at(second))) {
        auto& due = expected[static_cast<std::size_t>(fired - entries.data())];
        RC_ASSERT(due.has_value());
        RC_ASSERT(*due <= at(second));
        due.reset();
      }
      for (const auto& due : expected) RC_ASSERT(!due || *due > at(second));
    }
    std::optional<Time> earliest;
    for (const auto& due : expected)
      if (due) earliest = std::min(earliest.value_or(*due), *due);
    RC_ASSERT(queue.next() == earliest);
  }
}

}  // namespace
}  // namespace joust

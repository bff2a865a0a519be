// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <thread>

#include "joust/service.hpp"

namespace joust {
namespace {

struct CountingLoop : Wakeable {
  void wake() override { ++wakes; }
  std::atomic<int> wakes{0};
};

TEST(PublicationsTest, AnnouncingMovesTheCountAndWakesEverySubscriber) {
  Publications publications;
  CountingLoop first;
  CountingLoop second;
  publications.subscribe(first);
  publications.subscribe(second);
  const std::uint64_t before = publications.count();
  publications.announce();
  EXPECT_NE(publications.count(), before);
  EXPECT_EQ(first.wakes, 1);
  EXPECT_EQ(second.wakes, 1);
}

TEST(PublicationsTest, UnsubscribedIsNotWoken) {
  Publications publications;
  CountingLoop stays;
  CountingLoop leaves;
  publications.subscribe(stays);
  publications.subscribe(leaves);
  publications.unsubscribe(leaves);
  publications.announce();
  EXPECT_EQ(stays.wakes, 1);
  EXPECT_EQ(leaves.wakes, 0);
}

struct LookingLoop : Wakeable {
  explicit LookingLoop(Publications& publications) : watched(publications) {}
  void wake() override { seen = watched.count(); }
  Publications& watched;
  std::uint64_t seen = 0;
};

// The count has moved before anybody is woken, or a loop could look too early and sleep again.
TEST(PublicationsTest, CountMovesBeforeTheWake) {
  Publications publications;
  LookingLoop loop(publications);
  publications.subscribe(loop);
  publications.announce();
  EXPECT_EQ(loop.seen, publications.count());
  EXPECT_GT(loop.seen, 0U);
}

// Announcements at the same time may share a wake, but not one that came before the last of them.
TEST(PublicationsTest, NoAnnouncementOfAnyThreadIsLost) {
  constexpr int kThreads = 4;
  constexpr int kEach = 1000;
  Publications publications;
  LookingLoop loop(publications);
  publications.subscribe(loop);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < kEach; ++n) publications.announce();
      });
  }
  EXPECT_EQ(publications.count(), static_cast<std::uint64_t>(kThreads * kEach));
  EXPECT_EQ(loop.seen, publications.count());
}

// As from a signal handler that interrupts an announcement: the loop's wake stands for the interrupted code.
TEST(PublicationsTest, AnAnnouncementWithinAnotherIsHeard) {
  struct AnnouncingLoop : Wakeable {
    explicit AnnouncingLoop(Publications& publications) : watched(publications) {}
    void wake() override {
      seen = watched.count();
      if (wakes++ == 0) watched.announce();
    }
    Publications& watched;
    std::uint64_t seen = 0;
    int wakes = 0;
  };
  Publications publications;
  AnnouncingLoop loop(publications);
  publications.subscribe(loop);
  publications.announce();
  EXPECT_EQ(loop.wakes, 2);
  EXPECT_EQ(loop.seen, 2U);
}

}  // namespace
}  // namespace joust

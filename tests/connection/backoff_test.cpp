// SPDX-License-Identifier: MIT
#include "connection/timer_queue.hpp"

#include <gtest/gtest.h>

#include <set>

namespace joust {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(Backoff, DoublesUpToItsMost) {
  Backoff backoff(milliseconds(50), milliseconds(300), 1);
  for (const int longest_ms : {50, 100, 200, 300, 300, 300}) {
    const Duration pause = backoff.next();
    EXPECT_GE(pause, milliseconds(longest_ms) / 2);
    EXPECT_LE(pause, milliseconds(longest_ms));
  }
}

TEST(Backoff, BeginsAgainAfterASuccess) {
  Backoff backoff(milliseconds(50), milliseconds(300), 1);
  for (int i = 0; i < 5; ++i) backoff.next();
  backoff.restart();
  EXPECT_LE(backoff.next(), milliseconds(50));
}

// Connections that were lost together would otherwise come back together, again and again.
TEST(Backoff, DiffersFromSeedToSeed) {
  std::set<Duration> pauses;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    pauses.insert(Backoff(milliseconds(50), milliseconds(50), seed).next());
  EXPECT_GT(pauses.size(), 90U);
  EXPECT_EQ(Backoff(milliseconds(50), milliseconds(50), 7).next(),
            Backoff(milliseconds(50), milliseconds(50), 7).next());
}

TEST(Backoff, StaysFinite) {
  Backoff backoff(Duration(1), hours(1), 3);
  for (int i = 0; i < 200; ++i) EXPECT_LE(backoff.next(), hours(1));
  EXPECT_GE(backoff.next(), hours(1) / 2);
}

}  // namespace
}  // namespace joust

// SPDX-License-Identifier: MIT
#include "load/recorder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <thread>

namespace joust {
namespace {

using Lines = std::pair<std::uintptr_t, std::uintptr_t>;  // first and one past the last, by number

Lines lines_of(std::span<const std::byte> memory) {
  const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
  EXPECT_EQ(start % kCacheLines, 0U);
  EXPECT_EQ(memory.size() % kCacheLines, 0U);
  return {start / kCacheLines, (start + memory.size()) / kCacheLines};
}

// The lines each of so many threads writes to, all of them recording at the same time.
std::vector<Lines> lines_of_threads(Recorder& recorder, std::size_t threads) {
  std::vector<std::vector<std::span<const std::byte>>> memory(threads);
  {
    std::barrier start(static_cast<std::ptrdiff_t>(threads));
    std::vector<std::jthread> running;
    for (auto& mine : memory)
      running.emplace_back([&] {
        start.arrive_and_wait();
        recorder.sent(1);
        recorder.verified(Duration(1), Duration(1));
        mine = recorder.memory_of_this_thread();
      });
  }
  std::vector<Lines> lines;
  for (const auto& mine : memory)
    for (const auto& part : mine) lines.push_back(lines_of(part));
  return lines;
}

TEST(Recorder, GivesEachThreadCacheLinesOfItsOwn) {
  constexpr std::size_t kThreads = 20;
  Recorder recorder(std::chrono::seconds(1), false);
  recorder.expect_threads(kThreads);
  std::vector<Lines> lines = lines_of_threads(recorder, kThreads);
  ASSERT_EQ(lines.size(), 3 * kThreads) << "counters, latencies, timeline";
  std::ranges::sort(lines);
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_LE(lines[i - 1].second, lines[i].first);
  EXPECT_EQ(recorder.counts().verified, kThreads);
  EXPECT_EQ(recorder.latencies().count(), kThreads);
}

TEST(Recorder, AForkedProcessSeesWhatIsCountedLater) {
  constexpr std::size_t kThreads = 40;
  Recorder recorder(std::chrono::seconds(1), true);
  recorder.expect_threads(kThreads / 2);
  recorder.share();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t reader = ::fork();
  if (reader == 0) {
    char go = 0;
    static_cast<void>(::read(ready[0], &go, 1) == 1);
    const bool sees = recorder.counts().verified == kThreads && recorder.latencies().count() == kThreads;
    ::_exit(sees ? 0 : 1);
  }
  lines_of_threads(recorder, kThreads);
  ASSERT_EQ(::write(ready[1], "g", 1), 1);
  int status = -1;
  ASSERT_EQ(::waitpid(reader, &status, 0), reader);
  EXPECT_EQ(status, 0);
  for (const int end : ready) ::close(end);
}

TEST(Recorder, CountsEveryThreadOfMoreThanWereExpected) {
  constexpr std::size_t kThreads = 100;
  Recorder recorder(std::chrono::seconds(1), false);
  lines_of_threads(recorder, kThreads);
  EXPECT_EQ(recorder.counts().sent, kThreads);
  EXPECT_EQ(recorder.counts().verified, kThreads);
}

TEST(Recorder, KeepsTheRecordsOfOneThreadInTwoLoadsApart) {
  Recorder one(std::chrono::seconds(1), false), other(std::chrono::seconds(1), false);
  for (int i = 0; i < 3; ++i) {
    one.sent(1);
    other.sent(10);
  }
  EXPECT_EQ(one.counts().sent, 3U);
  EXPECT_EQ(other.counts().sent, 30U);
}

}  // namespace
}  // namespace joust

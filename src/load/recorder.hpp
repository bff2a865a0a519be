// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "joust/time.hpp"
#include "measure/histogram.hpp"

namespace joust {

// When messages were verified, in steps of a millisecond from the opening of the timed window (coarser for
// windows of more than ten minutes). Threads: as Histogram.
class Timeline {
 public:
  explicit Timeline(Duration longest);  // of the window; 0: unknown
  void record(Duration since_opening);
  void merge(const Timeline& other);
  // The number of messages in each of `parts` equal parts of the window. Empty if the parts are shorter than
  // a step, or the window is longer than was expected.
  std::vector<std::uint64_t> parts(Duration window, std::size_t parts) const;

 private:
  static constexpr std::size_t kMostSteps = 600'000;
  struct Free {
    void operator()(std::uint64_t* counts) const { std::free(counts); }
  };

  Duration step_;
  std::size_t steps_;
  std::unique_ptr<std::uint64_t[], Free> counts_;
};

// The records of a load's connections in the timed window. Threads write to separate shards, as far as there
// are enough, so that they do not share cache lines; totals are computed after the run.
class Recorder {
 public:
  struct Counts {
    std::uint64_t sent = 0;            // requests sent in the window, and those in flight when it opened
    std::uint64_t verified = 0;        // correct replies in the window
    std::uint64_t beside = 0;          // correct replies outside the windows of a load that takes turns
    std::uint64_t failed = 0;          // requests that failed in the window
    std::uint64_t in_flight = 0;       // requests unanswered when it closed
    std::uint64_t answered = 0;        // connections with at least one verified reply in the window
    Duration oldest_open{};            // age of the oldest of those at that time
    std::uint64_t bytes_sent = 0;      // of the protocol's messages, framing included
    std::uint64_t bytes_received = 0;  // likewise
  };

  explicit Recorder(Duration longest_window);

  // Any thread, in the window.
  void sent(std::uint64_t requests) { add(shard().sent, requests); }
  void verified(Duration latency, Duration since_opening);
  void beside() { add(shard().beside, 1); }
  void failed(std::uint64_t requests) { add(shard().failed, requests); }
  void in_flight(std::uint64_t requests, Duration oldest);  // `oldest`: since its intended send
  void answered() { add(shard().answered, 1); }             // once for each connection
  void bytes_sent(std::uint64_t bytes) { add(shard().bytes_sent, bytes); }
  void bytes_received(std::uint64_t bytes) { add(shard().bytes_received, bytes); }

  // After the run.
  Counts counts() const;
  Histogram latencies() const;
  Timeline timeline() const;

 private:
  static constexpr std::size_t kShards = 8;
  using Counter = std::atomic<std::uint64_t>;
  struct alignas(128) Shard {
    explicit Shard(Duration longest) : timeline(longest) {}
    Counter sent{0}, verified{0}, beside{0}, failed{0}, in_flight{0}, answered{0}, bytes_sent{0},
        bytes_received{0};
    std::atomic<std::int64_t> oldest_open_ns{0};
    Histogram latencies;
    Timeline timeline;
  };

  static void add(Counter& counter, std::uint64_t n) { counter.fetch_add(n, std::memory_order_relaxed); }
  Shard& shard();

  Duration longest_;
  std::array<std::unique_ptr<Shard>, kShards> shards_;
};

}  // namespace joust

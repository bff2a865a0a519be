// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/memory.hpp"
#include "joust/time.hpp"
#include "measure/histogram.hpp"

namespace joust {

// Increments a counter. A thread that writes alone needs no locked instruction.
template <typename Atomic>
void increase(Atomic&& counter, std::uint64_t by, Writers writers) {
  if (writers == Writers::several)
    counter.fetch_add(by, std::memory_order_relaxed);
  else
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

// The times at which messages were verified, in steps of a millisecond from the opening of the timed window
// (coarser for windows of more than ten minutes). Threads: the same rules as for Histogram.
class Timeline {
 public:
  explicit Timeline(Duration longest);  // longest window; 0: unknown
  void record(Duration since_opening, Writers writers);
  // Returns whether such parts of a window are not shorter than a step, and it is no longer than expected.
  bool can_tell(Duration window, std::size_t parts) const {
    return window >= step_ * parts && window <= step_ * steps_;
  }
  // Adds the number of messages in each of `sums.size()` equal parts of the window, which it can tell.
  void add_to(std::vector<std::uint64_t>& sums, Duration window) const;

  const ZeroedLines& memory() const { return memory_; }

 private:
  static constexpr std::size_t kMostSteps = 600'000;

  Duration step_;
  std::size_t steps_;
  ZeroedLines memory_;
  std::uint64_t* counts_;  // in memory_
};

// The records of a load's connections in the timed window. Each thread has a shard of its own, with cache
// lines of its own; totals are computed after the run. If more threads come than were expected, as in an
// engine with a thread for each connection, several share a shard.
class Recorder {
 public:
  struct Counts {
    std::uint64_t sent = 0;            // requests sent in the window, and those in flight when it opened
    std::uint64_t verified = 0;        // correct replies in the window
    std::uint64_t latency_sum_ns = 0;  // the sum of their latencies
    std::uint64_t beside = 0;          // correct replies in ramps of a load that takes turns
    std::uint64_t failed = 0;          // requests that failed in the window
    std::uint64_t lost = 0;            // lossy delivery: sent requests that were given up
    std::uint64_t late = 0;            // replies of the whole run to requests that were given up
    std::uint64_t duplicated = 0;      // repeated replies of the whole run
    std::uint64_t in_flight = 0;       // requests unanswered when the window closed
    std::uint64_t answered = 0;        // connections with at least one verified reply in the window
    std::uint64_t never_answered = 0;  // closed loop: asked, and had no reply until the window closed
    Duration oldest_open{};            // age of the oldest request of in_flight when the window closed
    std::uint64_t unsent = 0;          // open loop: due in the window, and not sent when it closed
    std::uint64_t never_sent = 0;      // requests of the window that were not sent later either
    // Open loop: sent and not answered, when windows opened and when they closed (of turns, the sums).
    std::uint64_t open_at_opening = 0, open_at_close = 0;
    std::uint64_t bytes_sent = 0;      // bytes of the protocol's messages, framing included
    std::uint64_t bytes_received = 0;  // bytes of the protocol's messages, framing included
  };

  // The times of the last replies. Replies come in batches, whose number in a window of given length is a
  // matter of luck: 12 or 13 of them in a short one. From the last reply of a turn's ramp to its last reply
  // is a whole number of batches, and no time without replies is left out. Empty for a part without replies.
  struct Replies {
    std::optional<Time> last_of_ramp{}, last{};
  };

  Recorder(Duration longest_window, bool open_loop);
  // Makes shards for so many threads, and at least for as many as the machine has CPUs. Call before the run.
  void expect_threads(std::size_t threads);
  // Shares the records with processes that are forked later: they see all counts, and may call the functions
  // for after the run. Call after expect_threads(). Throws std::bad_alloc.
  void share();

  // Count events in the window. Any thread.
  void sent(std::uint64_t requests) { add(&Shard::sent, requests); }
  void verified(Duration latency, Duration since_opening);
  void uncorrected(Duration latency);  // open loop: since the request was sent, not since it was due
  void sent_late(Duration lateness);   // open loop: after the request was due and a slot was free for it
  // Count an open loop's requests that are due and not sent, and those that are sent and not answered.
  void at_opening(std::uint64_t behind, std::uint64_t open);
  void at_close(std::uint64_t behind, std::uint64_t open);
  void never_sent(std::uint64_t requests) { add(&Shard::never_sent, requests); }
  void replied(Time now, bool in_ramp);  // in turns, also before the window; and in open loops
  void beside() { add(&Shard::beside, 1); }
  void failed(std::uint64_t requests) { add(&Shard::failed, requests); }
  void lost() { add(&Shard::lost, 1); }
  void lost_in_flight();  // for a request that was counted as in flight when the window closed
  // Requests between two connections count as in flight until the next connection takes them over.
  void handed_over(std::uint64_t requests) { add(&Shard::in_flight, requests); }
  void taken_over(std::uint64_t requests) { add(&Shard::in_flight, 0 - requests); }
  void late() { add(&Shard::late, 1); }
  void duplicated() { add(&Shard::duplicated, 1); }
  void in_flight(std::uint64_t requests, Duration oldest);  // `oldest`: time since its intended send
  void answered() { add(&Shard::answered, 1); }             // once for each connection
  void never_answered() { add(&Shard::never_answered, 1); }
  void bytes_sent(std::uint64_t bytes) { add(&Shard::bytes_sent, bytes); }
  void bytes_received(std::uint64_t bytes) { add(&Shard::bytes_received, bytes); }

  // Results, for after the run. During the run they return some recent value of each number.
  Counts counts() const;
  Distribution latencies() const;
  // For open loops only; otherwise empty.
  Distribution uncorrected_latencies() const;
  Distribution send_lateness() const;
  // Returns the number of messages in each of `parts` equal parts of the window. Empty if the parts are
  // shorter than a step, or the window is longer than expected.
  std::vector<std::uint64_t> parts(Duration window, std::size_t parts) const;
  Replies replies_since(Time begin) const;  // the replies of the latest turn, after its end

  // Returns the memory to which the calling thread's records go. All of it begins and ends at cache lines.
  std::vector<std::span<const std::byte>> memory_of_this_thread();

 private:
  using Counter = std::atomic<std::uint64_t>;
  struct alignas(kCacheLines) Shard {
    Shard(Duration longest, bool open_loop, Writers threads) : timeline(longest), writers(threads) {
      if (open_loop) schedule.emplace();
    }
    Counter sent{0}, verified{0}, beside{0}, failed{0}, in_flight{0}, answered{0}, bytes_sent{0},
        bytes_received{0}, behind_at_opening{0}, behind_at_end{0}, open_at_opening{0}, open_at_close{0},
        never_sent{0}, never_answered{0}, lost{0}, late{0}, duplicated{0};
    std::atomic<std::int64_t> oldest_open_ns{0};
    std::atomic<Time> last_of_ramp{Time{}}, last_reply{Time{}};  // Time{}: none
    Histogram latencies;
    Timeline timeline;
    struct OfSchedule {
      Histogram uncorrected, lateness;
    };
    std::optional<OfSchedule> schedule;
    const Writers writers;

    // Allocate in memory that forked processes share.
    static void* operator new(std::size_t bytes, std::align_val_t alignment);
    static void operator delete(void* shard, std::size_t bytes, std::align_val_t alignment);
  };
  using Shards = std::vector<std::unique_ptr<Shard>>;

  // Inline, because every message needs them.
  void add(Counter Shard::*counter, std::uint64_t n) {
    Shard& mine = shard();
    increase(mine.*counter, n, mine.writers);
  }
  Shard& shard() {
    struct Mine {
      std::uint64_t recorder = 0;  // 0: none
      Shard* shard = nullptr;
    };
    static_assert(std::is_trivially_destructible_v<Mine>);
    static constinit thread_local Mine mine;
    if (mine.recorder != id_) mine = {id_, &take_shard()};
    return *mine.shard;
  }
  Shard& take_shard();
  bool add_to(Shards& shards);
  template <typename See>
  void each_shard(See&& see) const;

  const Duration longest_;
  const bool open_loop_;
  const std::uint64_t id_;  // unique in the process
  mutable std::mutex mutex_;
  std::size_t threads_ = 0;   // threads that have a shard
  std::size_t most_own_ = 1;  // shards for one thread each
  Shards own_, shared_;
};

}  // namespace joust

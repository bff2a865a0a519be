// SPDX-License-Identifier: MIT
#include "load/recorder.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <thread>

namespace joust {
namespace {

constexpr std::size_t kMostShared = 8;
std::atomic<std::uint64_t> recorders{0};  // made so far

std::uint64_t in_ns(Duration time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, time.count()));
}

}  // namespace

Timeline::Timeline(Duration longest)
    : step_(std::max<Duration>(std::chrono::milliseconds(1), longest / kMostSteps + Duration(1))),
      steps_(longest == Duration{} ? kMostSteps : static_cast<std::size_t>(longest / step_) + 1),
      memory_(steps_ * sizeof(std::uint64_t)),
      counts_(static_cast<std::uint64_t*>(memory_.data())) {}

void Timeline::record(Duration since_opening, Writers writers) {
  const auto step = static_cast<std::size_t>(std::max<std::int64_t>(0, since_opening / step_));
  increase(std::atomic_ref(counts_[std::min(step, steps_ - 1)]), 1, writers);
}

// Looks at no step beyond the window: the system would provide its memory, which takes many milliseconds.
void Timeline::add_to(std::vector<std::uint64_t>& sums, Duration window) const {
  const std::size_t parts = sums.size(), steps = static_cast<std::size_t>(window / step_);
  for (std::size_t i = 0; i < std::min(steps + 1, steps_); ++i)
    sums[std::min(i * parts / steps, parts - 1)] += counts_[i];
}

// Makes the shards of the expected threads in advance, so that a lack of memory cannot disturb their first
// record.
Recorder::Recorder(Duration longest_window, bool open_loop)
    : longest_(longest_window), open_loop_(open_loop), id_(recorders.fetch_add(1) + 1) {
  expect_threads(std::thread::hardware_concurrency());
  shared_.reserve(kMostShared);
  own_.push_back(std::make_unique<Shard>(longest_, open_loop_, Writers::one));
  shared_.push_back(std::make_unique<Shard>(longest_, open_loop_, Writers::several));
}

void Recorder::expect_threads(std::size_t threads) {
  most_own_ = std::max(most_own_, threads);
  own_.reserve(most_own_);
}

void* Recorder::Shard::operator new(std::size_t bytes, std::align_val_t /*page*/) {
  void* const place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  return place;
}

void Recorder::Shard::operator delete(void* shard, std::size_t bytes, std::align_val_t /*page*/) {
  ::munmap(shard, bytes);
}

void Recorder::share() {
  const std::lock_guard lock(mutex_);
  while (own_.size() < most_own_) own_.push_back(std::make_unique<Shard>(longest_, open_loop_, Writers::one));
  while (shared_.size() < kMostShared)
    shared_.push_back(std::make_unique<Shard>(longest_, open_loop_, Writers::several));
}

// Takes a shard for a thread's first record. In the middle of a run it must not fail: without memory the
// thread shares a shard.
Recorder::Shard& Recorder::take_shard() {
  const std::lock_guard lock(mutex_);
  const std::size_t mine = threads_++;
  if (mine < own_.size()) return *own_[mine];
  if (mine < most_own_ && add_to(own_)) return *own_.back();
  if (shared_.size() < kMostShared && mine > most_own_) add_to(shared_);
  return *shared_[mine % shared_.size()];
}

bool Recorder::add_to(Shards& shards) {
  try {
    const Writers writers = &shards == &own_ ? Writers::one : Writers::several;
    shards.push_back(std::make_unique<Shard>(longest_, open_loop_, writers));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::vector<std::span<const std::byte>> Recorder::memory_of_this_thread() {
  const Shard& mine = shard();
  const auto bytes_of = [](const ZeroedLines& memory) {
    return std::span(static_cast<const std::byte*>(memory.data()), memory.size());
  };
  return {std::as_bytes(std::span(&mine, 1)), bytes_of(mine.latencies.memory()),
          bytes_of(mine.timeline.memory())};
}

void Recorder::verified(Duration latency, Duration since_opening) {
  Shard& mine = shard();
  increase(mine.verified, 1, mine.writers);
  mine.latencies.record(in_ns(latency), 1, mine.writers);
  mine.timeline.record(since_opening, mine.writers);
}

void Recorder::uncorrected(Duration latency) {
  Shard& mine = shard();
  mine.schedule->uncorrected.record(in_ns(latency), 1, mine.writers);
}

void Recorder::sent_late(Duration lateness) {
  Shard& mine = shard();
  mine.schedule->lateness.record(in_ns(lateness), 1, mine.writers);
}

// Records the time of a reply. Threads that share a shard come in any order.
void Recorder::replied(Time now, bool in_ramp) {
  Shard& mine = shard();
  std::atomic<Time>& last = in_ramp ? mine.last_of_ramp : mine.last_reply;
  if (mine.writers == Writers::one) return last.store(now, std::memory_order_relaxed);
  Time known = last.load(std::memory_order_relaxed);
  while (now > known && !last.compare_exchange_weak(known, now, std::memory_order_relaxed)) {
  }
}

Recorder::Replies Recorder::replies_since(Time begin) const {
  Replies all;
  const auto later = [begin](std::optional<Time>& so_far, Time one) {
    if (one >= begin) so_far = std::max(so_far.value_or(one), one);
  };
  each_shard([&](const Shard& shard) {
    later(all.last_of_ramp, shard.last_of_ramp);
    later(all.last, shard.last_reply);
  });
  return all;
}

void Recorder::at_opening(std::uint64_t behind, std::uint64_t open) {
  add(&Shard::behind_at_opening, behind);
  add(&Shard::open_at_opening, open);
}

void Recorder::at_close(std::uint64_t behind, std::uint64_t open) {
  add(&Shard::behind_at_end, behind);
  add(&Shard::open_at_close, open);
}

void Recorder::in_flight(std::uint64_t requests, Duration oldest) {
  Shard& mine = shard();
  increase(mine.in_flight, requests, mine.writers);
  std::int64_t known = mine.oldest_open_ns.load(std::memory_order_relaxed);
  while (oldest.count() > known &&
         !mine.oldest_open_ns.compare_exchange_weak(known, oldest.count(), std::memory_order_relaxed)) {
  }
}

// Counts a request as lost in place of in flight. The shard that has counted it as in flight may be another
// one: the sums are right, and the parts wrap. The same applies to handovers.
void Recorder::lost_in_flight() {
  Shard& mine = shard();
  increase(mine.in_flight, static_cast<std::uint64_t>(-1), mine.writers);
  increase(mine.lost, 1, mine.writers);
}

template <typename See>
void Recorder::each_shard(See&& see) const {
  const std::lock_guard lock(mutex_);
  for (const Shards* shards : {&own_, &shared_})
    for (const auto& shard : *shards) see(*shard);
}

Recorder::Counts Recorder::counts() const {
  Counts sum;
  std::uint64_t behind_at_opening = 0, behind_at_end = 0;
  each_shard([&](const Shard& shard) {
    sum.sent += shard.sent;
    sum.verified += shard.verified;
    sum.latency_sum_ns += shard.latencies.sum();
    sum.beside += shard.beside;
    sum.failed += shard.failed;
    sum.lost += shard.lost;
    sum.late += shard.late;
    sum.duplicated += shard.duplicated;
    sum.in_flight += shard.in_flight;
    sum.answered += shard.answered;
    sum.never_answered += shard.never_answered;
    sum.oldest_open = std::max(sum.oldest_open, Duration(shard.oldest_open_ns.load()));
    behind_at_opening += shard.behind_at_opening;
    behind_at_end += shard.behind_at_end;
    sum.never_sent += shard.never_sent;
    sum.open_at_opening += shard.open_at_opening;
    sum.open_at_close += shard.open_at_close;
    sum.bytes_sent += shard.bytes_sent;
    sum.bytes_received += shard.bytes_received;
  });
  sum.unsent = behind_at_end - std::min(behind_at_end, behind_at_opening);  // the others were due before
  return sum;
}

Distribution Recorder::latencies() const {
  Distribution all;
  each_shard([&all](const Shard& shard) { all.merge(shard.latencies.distribution()); });
  return all;
}

Distribution Recorder::uncorrected_latencies() const {
  Distribution all;
  each_shard([&all](const Shard& shard) {
    if (shard.schedule) all.merge(shard.schedule->uncorrected.distribution());
  });
  return all;
}

Distribution Recorder::send_lateness() const {
  Distribution all;
  each_shard([&all](const Shard& shard) {
    if (shard.schedule) all.merge(shard.schedule->lateness.distribution());
  });
  return all;
}

std::vector<std::uint64_t> Recorder::parts(Duration window, std::size_t parts) const {
  std::vector<std::uint64_t> sums(parts);
  if (!own_.front()->timeline.can_tell(window, parts)) return {};
  each_shard([&](const Shard& shard) {
    if (shard.verified > 0) shard.timeline.add_to(sums, window);
  });
  return sums;
}

}  // namespace joust

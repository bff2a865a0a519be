// SPDX-License-Identifier: MIT
#include "load/recorder.hpp"

#include <algorithm>
#include <new>

namespace joust {

Timeline::Timeline(Duration longest)
    : step_(std::max<Duration>(std::chrono::milliseconds(1), longest / kMostSteps + Duration(1))),
      steps_(longest == Duration{} ? kMostSteps : static_cast<std::size_t>(longest / step_) + 1),
      // calloc: the kernel provides zeroed pages on first use, so an unused tail takes no memory.
      counts_(static_cast<std::uint64_t*>(std::calloc(steps_, sizeof(std::uint64_t)))) {
  if (!counts_) throw std::bad_alloc();
}

void Timeline::record(Duration since_opening) {
  const auto step = static_cast<std::size_t>(std::max<std::int64_t>(0, since_opening / step_));
  std::atomic_ref(counts_[std::min(step, steps_ - 1)]).fetch_add(1, std::memory_order_relaxed);
}

void Timeline::merge(const Timeline& other) {
  for (std::size_t i = 0; i < steps_; ++i)
    if (other.counts_[i] != 0) counts_[i] += other.counts_[i];
}

std::vector<std::uint64_t> Timeline::parts(Duration window, std::size_t parts) const {
  if (window < step_ * parts || window > step_ * steps_) return {};
  std::vector<std::uint64_t> sums(parts);
  const std::size_t steps = std::clamp<std::size_t>(static_cast<std::size_t>(window / step_), 1, steps_);
  for (std::size_t i = 0; i < steps_; ++i)
    if (counts_[i] != 0) sums[std::min(i * parts / steps, parts - 1)] += counts_[i];
  return sums;
}

Recorder::Recorder(Duration longest_window) : longest_(longest_window) {
  for (auto& shard : shards_) shard = std::make_unique<Shard>(longest_window);
}

Recorder::Shard& Recorder::shard() {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t mine = threads.fetch_add(1) % kShards;
  return *shards_[mine];
}

void Recorder::verified(Duration latency, Duration since_opening) {
  Shard& mine = shard();
  add(mine.verified, 1);
  mine.latencies.record(static_cast<std::uint64_t>(std::max<std::int64_t>(1, latency.count())));
  mine.timeline.record(since_opening);
}

void Recorder::in_flight(std::uint64_t requests, Duration oldest) {
  Shard& mine = shard();
  add(mine.in_flight, requests);
  std::int64_t known = mine.oldest_open_ns.load(std::memory_order_relaxed);
  while (oldest.count() > known &&
         !mine.oldest_open_ns.compare_exchange_weak(known, oldest.count(), std::memory_order_relaxed)) {
  }
}

Recorder::Counts Recorder::counts() const {
  Counts sum;
  for (const auto& shard : shards_) {
    sum.sent += shard->sent;
    sum.verified += shard->verified;
    sum.beside += shard->beside;
    sum.failed += shard->failed;
    sum.in_flight += shard->in_flight;
    sum.answered += shard->answered;
    sum.oldest_open = std::max(sum.oldest_open, Duration(shard->oldest_open_ns.load()));
    sum.bytes_sent += shard->bytes_sent;
    sum.bytes_received += shard->bytes_received;
  }
  return sum;
}

Histogram Recorder::latencies() const {
  Histogram all;
  for (const auto& shard : shards_) all.merge(shard->latencies);
  return all;
}

Timeline Recorder::timeline() const {
  Timeline all(longest_);
  for (const auto& shard : shards_) all.merge(shard->timeline);
  return all;
}

}  // namespace joust

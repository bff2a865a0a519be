// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <vector>

#include "joust/outbox.hpp"
#include "joust/service.hpp"
#include "joust/session.hpp"

namespace joust {

std::string_view stage_name(Stage stage) {
  static constexpr std::array<std::string_view, kStages> kNames{"resolve", "connect", "send", "receive",
                                                                "verify",  "timeout", "local"};
  return kNames[static_cast<std::size_t>(stage)];
}

namespace {

constexpr std::size_t kFirstBlock = 1 << 10;
constexpr std::size_t kLargestBlock = 64 << 10;

}  // namespace

std::span<std::byte> Outbox::extend(std::size_t n) {
  if (last().capacity - last().written < n) {
    const std::size_t next = more_.empty() ? kFirstBlock : more_.back().capacity * 2;
    const std::size_t capacity = std::max(n, std::min(next, kLargestBlock));
    more_.push_back(
        Block{.capacity = capacity, .bytes = std::make_unique_for_overwrite<std::byte[]>(capacity)});
  }
  Block& block = last();
  std::byte* const begin = more_.empty() ? room_.data() : block.bytes.get();
  const std::span<std::byte> room(begin + block.written, n);
  block.written += n;
  size_ += n;
  return room;
}

void Outbox::append(Bytes bytes) {
  if (bytes.empty()) return;
  std::memcpy(extend(bytes.size()).data(), bytes.data(), bytes.size());
}

std::size_t Outbox::segments(std::span<Segment> into) const {
  std::size_t filled = 0;
  const auto show = [&](const Block& block) {
    if (filled < into.size() && block.consumed < block.written)
      into[filled++].bytes = {bytes_of(block) + block.consumed, block.written - block.consumed};
  };
  show(inside_);
  for (auto block = more_.begin(); block != more_.end() && filled < into.size(); ++block) show(*block);
  return filled;
}

// Calls step() for the blocks in order, until it returns false.
template <typename Step>
void Outbox::each_block(Step&& step) {
  if (!step(inside_)) return;
  for (Block& block : more_)
    if (!step(block)) return;
}

void Outbox::consumed(std::size_t n) {
  assert(n <= size_);
  size_ -= n;
  each_block([&n](Block& block) {
    const std::size_t part = std::min(n, block.written - block.consumed);
    block.consumed += part;
    n -= part;
    return n > 0;
  });
}

void Outbox::released(std::size_t n) {
  each_block([&n](Block& block) {
    const std::size_t part = std::min(n, block.consumed - block.released);
    block.released += part;
    n -= part;
    return n > 0;
  });
  if (inside_.done()) inside_.reset();
  if (more_.empty()) return;
  // Unused blocks are freed, except a last one of ordinary size, which is reused.
  const auto live = std::ranges::find_if(more_, [](const Block& block) { return !block.done(); });
  const bool keep_last = live == more_.end() && more_.back().capacity <= kLargestBlock;
  more_.erase(more_.begin(), keep_last ? more_.end() - 1 : live);
  if (keep_last) more_.back().reset();
}

// Increments the count and wakes the loops. A signal handler must not wait for a lock that the interrupted
// code may hold. So no caller waits here: a caller that finds the list locked sets a flag, and the holder of
// the lock checks the flag afterwards. (The standard leaves try_lock() of a mutex that the thread itself
// holds undefined; with POSIX threads it fails.)
void Publications::announce() {
  count_.fetch_add(1, std::memory_order_acq_rel);
  unheard_.store(true);
  wake_all();
}

void Publications::wake_all() {
  while (unheard_.load()) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    if (!unheard_.exchange(false)) continue;
    for (Wakeable* loop : loops_) loop->wake();
  }
}

void Publications::subscribe(Wakeable& loop) {
  {
    const std::lock_guard lock(mutex_);
    loops_.push_back(&loop);
  }
  wake_all();
}

void Publications::unsubscribe(Wakeable& loop) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(loops_, &loop);
  }
  wake_all();
}

}  // namespace joust

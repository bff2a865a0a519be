// SPDX-License-Identifier: MIT
#include "protocols/broadcast/room_log.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace joust::broadcast {
namespace {

constexpr std::size_t kChunk = 256 << 10;
static_assert(kChunk >= RoomLog::kLargest);

// The time for which a reader that is far behind may read less than kEnough without being given up.
constexpr Duration kPatience = std::chrono::seconds(2);
constexpr std::uint64_t kEnough = 32;  // 1/32 of the limit: the bytes to be read in kPatience

// Waiting without success is also limited for the room, or members that join, never read and rejoin could
// delay it for ever: to kPatience at a time, and in the long run to this part of the time.
constexpr int kPartOfTheTime = 8;

constexpr Duration kLookEvery = std::chrono::milliseconds(5);

}  // namespace

// Written once from front to back, with the log's mutex held. Readers use the bytes below `written`, and
// `next` once `full` is set.
struct RoomLog::Chunk {
  explicit Chunk(std::uint64_t beginning) : start(beginning) {}
  // Destroys the following chunks in a loop: if each destroyed its successor, the recursion would be as deep
  // as the log. The first destructor runs the loop; the nested ones hand over their successor.
  ~Chunk() {
    static constinit thread_local std::shared_ptr<Chunk>* successor = nullptr;  // in the running loop
    if (successor != nullptr) {
      *successor = std::move(next);
      return;
    }
    std::shared_ptr<Chunk> rest = std::move(next), following;
    successor = &following;
    while (rest) {
      rest.reset();
      rest = std::move(following);
    }
    successor = nullptr;
  }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  const std::uint64_t start;  // position in the log
  std::atomic<std::size_t> written{0};
  std::atomic<bool> full{false};
  std::shared_ptr<Chunk> next;
  std::unique_ptr<std::byte[]> bytes = std::make_unique_for_overwrite<std::byte[]>(kChunk);
};

RoomLog::RoomLog(std::uint64_t limit)
    : limit_(limit), last_(std::make_shared<Chunk>(0)), look_again_(limit / 2 + 1), credit_(kPatience) {}

RoomLog::~RoomLog() = default;

void RoomLog::append(Bytes message, Time now) {
  assert(message.size() <= kLargest);
  const std::lock_guard lock(mutex_);
  std::size_t written = last_->written.load(std::memory_order_relaxed);
  if (kChunk - written < message.size()) {
    last_->next = std::make_shared<Chunk>(end_);
    last_->full.store(true, std::memory_order_release);
    last_ = last_->next;
    written = 0;
  }
  std::memcpy(last_->bytes.get() + written, message.data(), message.size());
  last_->written.store(written + message.size(), std::memory_order_release);
  end_ += message.size();
  if (end_ >= look_again_) look_locked(now);
}

void RoomLog::look(Time now) {
  const std::lock_guard lock(mutex_);
  if (now >= looked_ + kLookEvery) look_locked(now);
}

std::uint64_t RoomLog::end() {
  const std::lock_guard lock(mutex_);
  return end_;
}

// Checks all readers. Called only when the log has grown enough for one of them to have fallen too far
// behind, or while a writer waits.
void RoomLog::look_locked(Time now) {
  const std::uint64_t half = limit_ / 2;
  const std::uint64_t far = crowded() ? limit_ / 4 : half;
  bool is_crowded = false;
  if (crowded())
    credit_ -= now - looked_;
  else
    credit_ = std::min(kPatience, credit_ + (now - looked_) / kPartOfTheTime);
  look_again_ = end_ + half + 1;
  for (Reader* reader : readers_) {
    const std::uint64_t oldest = reader->oldest_.load(std::memory_order_relaxed);
    const std::uint64_t behind = end_ - oldest;
    if (behind > limit_) {
      if (!reader->given_up_.exchange(true)) members_given_up_.fetch_add(1);
      continue;
    }
    look_again_ = std::min(look_again_, oldest + (behind > half ? limit_ : half) + 1);
    if (behind <= far) {
      reader->behind_since_.reset();
      continue;
    }
    if (reader->has_read(oldest, limit_ / kEnough, now)) credit_ = kPatience;  // the wait was successful
    if (now < *reader->behind_since_ + kPatience) is_crowded = true;
  }
  is_crowded = is_crowded && credit_ > Duration::zero();
  looked_ = now;
  share_.store(limit_ / 4 / std::max<std::size_t>(1, readers_.size()), std::memory_order_relaxed);
  if (is_crowded && !crowded()) times_crowded_.fetch_add(1, std::memory_order_relaxed);
  crowded_.store(is_crowded, std::memory_order_relaxed);
}

// True if a reader that is far behind has read enough since it fell behind, or since the last time.
bool RoomLog::Reader::has_read(std::uint64_t oldest, std::uint64_t least, Time now) {
  const bool enough = behind_since_ && oldest - then_oldest_ >= least;
  if (!behind_since_ || enough) {
    behind_since_ = now;
    then_oldest_ = oldest;
  }
  return enough;
}

RoomLog::Reader::Reader(RoomLog& log) : log_(log) {
  const std::lock_guard lock(log.mutex_);
  released_ = consumed_ = {log.last_, log.last_->written.load(std::memory_order_relaxed)};
  oldest_ = log.end_;
  log.readers_.push_back(this);
}

RoomLog::Reader::~Reader() {
  const std::lock_guard lock(log_.mutex_);
  std::erase(log_.readers_, this);
}

std::size_t RoomLog::Reader::segments(std::span<Segment> into) const {
  std::size_t filled = 0;
  std::size_t from = consumed_.at;
  for (const Chunk* chunk = consumed_.chunk.get(); filled < into.size(); chunk = chunk->next.get()) {
    const bool full = chunk->full.load(std::memory_order_acquire);  // first: `written` is then final
    std::size_t to = chunk->written.load(std::memory_order_acquire);
    if (end_) to = std::min<std::uint64_t>(to, *end_ - std::min(*end_, chunk->start));
    if (to > from) into[filled++].bytes = {chunk->bytes.get() + from, to - from};
    if (!full) break;
    from = 0;
  }
  return filled;
}

bool RoomLog::Reader::caught_up() const {
  Segment next;
  return segments({&next, 1}) == 0;
}

void RoomLog::Reader::Cursor::move(std::size_t n) {
  for (;;) {
    const std::size_t left = chunk->written.load(std::memory_order_acquire) - at;
    at += std::min(left, n);
    if (n <= left) return;
    n -= left;
    chunk = std::shared_ptr(chunk->next);  // exists, because later bytes have been shown
    at = 0;
  }
}

void RoomLog::Reader::consumed(std::size_t n) {
  consumed_.move(n);
}

void RoomLog::Reader::released(std::size_t n) {
  released_.move(n);
  oldest_.store(released_.position(), std::memory_order_relaxed);
}

void RoomLog::Reader::stop_here() {
  const std::lock_guard lock(log_.mutex_);
  if (!end_) end_ = log_.end_;
}

std::uint64_t RoomLog::Reader::Cursor::position() const {
  return chunk->start + at;
}

}  // namespace joust::broadcast

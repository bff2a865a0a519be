// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "joust/session.hpp"
#include "joust/time.hpp"

namespace joust::broadcast {

// All messages of a room in one log, with a cursor for each member. A message is appended once for all
// readers, and a member's unread messages are one contiguous range. So N members that write to all N cost N
// appends and N sends, not N squared.
//
// The log consists of chunks, which are shared by the readers: a chunk is freed when the slowest member has
// left it. A member that falls behind by more than the limit is given up, so a member that never reads cannot
// use up the memory.
//
// A member that writes faster than others read must not cause them to be given up. When a reader is half the
// limit behind, the log is crowded: each writer may append one more share, and then waits. This ends when all
// readers are less than a quarter behind. A reader that takes less than 1/64 of the limit per second is not
// waited for, and is given up at the limit. The time spent waiting without success is limited for the whole
// room.
class RoomLog {
  struct Chunk;

 public:
  explicit RoomLog(std::uint64_t limit);  // bytes kept for the slowest member
  ~RoomLog();
  RoomLog(const RoomLog&) = delete;
  RoomLog& operator=(const RoomLog&) = delete;

  // Appends a message. Any thread. A message is never split between chunks, and must not be larger than
  // kLargest.
  static constexpr std::size_t kLargest = 128 << 10;
  void append(Bytes message, Time now);

  // For writers. share() is in bytes for each writer, for as long as the log is crowded. look() checks
  // whether it still is; it may be called often.
  bool crowded() const { return crowded_.load(std::memory_order_relaxed); }
  std::uint64_t times_crowded() const { return times_crowded_.load(std::memory_order_relaxed); }
  std::uint64_t share() const { return share_.load(std::memory_order_relaxed); }
  void look(Time now);
  std::uint64_t end();  // its position; any thread

  // A member's cursor. It starts at the end of the log. One thread at a time, concurrently with append().
  // Must be destroyed before the log.
  class Reader {
   public:
    explicit Reader(RoomLog& log);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // The same as Session::output, consumed and released, for the log after this cursor.
    std::size_t segments(std::span<Segment> into) const;
    void consumed(std::size_t n);
    void released(std::size_t n);

    bool caught_up() const;  // true if all has been consumed
    // Shows nothing behind a position of the log, such as its end now, until go_on() is called.
    void stop_here();
    void stop_at(std::uint64_t position) { end_ = position; }
    void go_on() { end_.reset(); }
    // Returns the position up to which all is consumed, and how many bytes of it are not released.
    std::uint64_t position() const { return consumed_.position(); }
    std::uint64_t unreleased() const { return position() - released_.position(); }
    bool given_up() const { return given_up_.load(std::memory_order_acquire); }

   private:
    friend class RoomLog;
    struct Cursor {
      std::shared_ptr<Chunk> chunk;
      std::size_t at = 0;
      std::uint64_t position() const;
      void move(std::size_t n);
    };

    RoomLog& log_;
    Cursor released_;
    Cursor consumed_;
    bool has_read(std::uint64_t oldest, std::uint64_t least, Time now);

    // Protected by the log's mutex; set while this reader is far behind:
    std::optional<Time> behind_since_;  // when it fell behind, or when it last read enough
    std::uint64_t then_oldest_ = 0;     // its oldest byte at that time

    std::optional<std::uint64_t> end_;   // position in the log
    std::atomic<std::uint64_t> oldest_;  // position of the first byte kept for this member
    std::atomic<bool> given_up_{false};
  };

  std::uint64_t given_up() const { return members_given_up_.load(); }  // members given up so far

 private:
  void look_locked(Time now);

  const std::uint64_t limit_;
  std::mutex mutex_;
  std::shared_ptr<Chunk> last_;
  std::uint64_t end_ = 0;     // bytes appended so far
  std::uint64_t look_again_;  // size of the log at which a reader may have fallen behind
  Time looked_{};
  Duration credit_;  // how long readers may still be waited for without success
  std::vector<Reader*> readers_;
  std::atomic<bool> crowded_{false};
  std::atomic<std::uint64_t> times_crowded_{0};
  std::atomic<std::uint64_t> share_{0};
  std::atomic<std::uint64_t> members_given_up_{0};
};

}  // namespace joust::broadcast

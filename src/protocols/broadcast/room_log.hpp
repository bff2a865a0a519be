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

// All messages of a room, one behind the other, and for every member a place in them. A message is appended
// once, however many will read it; what a member has not got yet is one stretch of memory, however many
// messages that is. So N members who write to all N cost N appends and N sends, not N squared.
//
// The log lies in chunks that belong to whoever still has to read them: the first one goes when the slowest
// member has left it. Who falls behind by more than the limit is given up, so that one member that never
// reads cannot fill the memory for all.
//
// A member that writes faster than others read must not have them given up. When a reader is half the limit
// behind, the log is crowded: each writer may append no more than its share then, and waits. That lasts until
// all readers are less than a quarter behind. Who waits for readers has to be sure that they read: a reader
// that takes less than 1/64 of the limit a second is not waited for, and is given up at the limit. Waiting
// in vain is limited for the whole room, whoever comes and goes.
class RoomLog {
  struct Chunk;

 public:
  explicit RoomLog(std::uint64_t limit);  // bytes kept for the slowest member
  ~RoomLog();
  RoomLog(const RoomLog&) = delete;
  RoomLog& operator=(const RoomLog&) = delete;

  // Any thread. A message is never cut in two by the end of a chunk; it must not be larger than kLargest.
  static constexpr std::size_t kLargest = 128 << 10;
  void append(Bytes message, Time now);

  // For those who append. share() is in bytes, for each of them and for as long as the log is crowded.
  // look() finds out whether it still is; it costs little to be called often.
  bool crowded() const { return crowded_.load(std::memory_order_relaxed); }
  std::uint64_t times_crowded() const { return times_crowded_.load(std::memory_order_relaxed); }
  std::uint64_t share() const { return share_.load(std::memory_order_relaxed); }
  void look(Time now);

  // A member's place, at first the end of the log: it reads what is appended from then on. Touched by one
  // thread at a time, beside append(). Goes before the log does.
  class Reader {
   public:
    explicit Reader(RoomLog& log);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // The contract of Session::output, consumed and released, for what the log holds beyond this place.
    std::size_t segments(std::span<Segment> into) const;
    void consumed(std::size_t n);
    void released(std::size_t n);

    bool caught_up() const;  // nothing is left to be consumed
    void stop_here();        // what is appended later is not for this member
    bool given_up() const { return given_up_.load(std::memory_order_acquire); }

   private:
    friend class RoomLog;
    struct Place {
      std::shared_ptr<Chunk> chunk;
      std::size_t at = 0;
      void move(std::size_t n);
    };

    RoomLog& log_;
    Place released_;
    Place consumed_;
    bool has_read(std::uint64_t oldest, std::uint64_t least, Time now);

    // The log's, under its mutex, while this reader is far behind:
    std::optional<Time> behind_since_;  // or since it was last seen to read enough,
    std::uint64_t then_oldest_ = 0;     // and what was the oldest then

    std::optional<std::uint64_t> end_;   // in bytes of the log
    std::atomic<std::uint64_t> oldest_;  // the first byte kept for this member, likewise
    std::atomic<bool> given_up_{false};
  };

  std::uint64_t given_up() const { return members_given_up_.load(); }  // members so far

 private:
  void look_locked(Time now);

  const std::uint64_t limit_;
  std::mutex mutex_;
  std::shared_ptr<Chunk> last_;
  std::uint64_t end_ = 0;     // bytes appended so far
  std::uint64_t look_again_;  // when the log has grown to this, somebody may have fallen behind
  Time looked_{};
  Duration credit_;  // for how long readers may still be waited for in vain
  std::vector<Reader*> readers_;
  std::atomic<bool> crowded_{false};
  std::atomic<std::uint64_t> times_crowded_{0};
  std::atomic<std::uint64_t> share_{0};
  std::atomic<std::uint64_t> members_given_up_{0};
};

}  // namespace joust::broadcast

// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "joust/bytes.hpp"
#include "joust/load_plan.hpp"
#include "joust/time.hpp"

// The payloads of a load, and when it sends them: by a schedule, or in turns.
namespace joust {

// Payloads that differ between connections and between messages, so that a reply to another request is
// detected. Making one is cheap: it is a slice of one pseudo-random buffer, at a position that depends on
// both numbers. Shared by all connections; immutable; any thread.
class Pattern {
 public:
  enum class Alphabet : std::uint8_t {
    any,           // all 256 bytes
    printable,     // ASCII from space to '~'
    alphanumeric,  // ASCII letters and digits
    upper,         // the same text as printable, with a-z in upper case
  };

  // Returns the pattern for messages of `size` bytes. While one is in use, calls with equal arguments return
  // the same object.
  static std::shared_ptr<const Pattern> of(std::size_t size, Alphabet alphabet);

  // Maps a random number to a byte of the alphabet.
  static std::byte letter(std::uint32_t random, Alphabet alphabet);

  Pattern(std::size_t size, Alphabet alphabet);
  Bytes message(std::uint64_t connection, std::uint64_t number) const;

 private:
  std::size_t size_;
  std::vector<std::byte> bytes_;
};

// Returns the longest pause that a plan can make between two requests of one connection.
Duration longest_gap(const LoadPlan& plan);

// Computes when the requests of one connection are due, by LoadPlan::interval or LoadPlan::rate_per_s. Not
// used by loads that have neither. One thread at a time.
class Schedule {
 public:
  // The connections are numbered from 0; each has its own place in the interval, and its own arrivals.
  Schedule(const LoadPlan& plan, std::uint64_t connection);

  bool has_begun() const { return next_ != Time::max(); }
  // Returns whether all connections send their first requests at the instant of the start.
  bool begins_with_all() const { return together_ && !has_begun(); }

  // Begins the schedule, or continues it after pause() as if no time had passed.
  void begin(Time now);
  void pause(Time now) { paused_ = now; }
  void restart();  // the next begin() is the first one again

  Time next() const { return next_; }  // Time::max() before the beginning
  void advance();
  // Closed loops: moves the next request back to `earliest`, because all slots were in use.
  void move_back(Time earliest);
  // Returns how many requests are due before `end`; with Poisson arrivals the expected number.
  std::uint64_t due_before(Time end) const;

 private:
  double gap_ns();

  double interval_ns_;          // from one burst to the next, on average
  std::uint64_t burst_;         // requests
  std::uint64_t of_burst_ = 0;  // requests of the present burst that come before the next one
  double place_ns_;             // place of the first request in the interval
  bool poisson_, together_;
  std::uint64_t random_;  // state of the generator
  Time origin_{};
  double since_origin_ns_{};  // time of the next request; kept apart, because an interval may be 333.3 ns
  Time next_ = Time::max();
  Time paused_{};
};

// The inverse of the greatest share of a turn that is its ramp, in which connections that all send at one
// instant get out of step.
inline constexpr int kRampShare = 5;

// Counts the connections that take part in the turns of a load (LoadPlan::turns), so that the end of each
// turn is known: all connections that were alive when it began have come to rest, or have ended. Lock-free,
// because a signal handler begins turns. All methods: any thread.
class Turns {
 public:
  using Number = std::uint32_t;  // 0 before the first turn; wraps after 16 million

  Number number() const { return number_of(word_.load(std::memory_order_acquire)); }
  bool under_way() const { return remaining_of(word_.load(std::memory_order_acquire)) > 0; }

  // Adds a connection, which takes part from the turn after the returned one on.
  Number joined();
  // Begins a turn. Returns false, without a change, if the previous turn is not over. Also returns false if
  // no connection is left, unless a turn may be deserted.
  bool begin(bool may_be_deserted = false);
  // Ends a turn that began without a connection. Returns true if one was under way.
  bool end_deserted();
  bool deserted() const { return remaining_of(word_.load(std::memory_order_acquire)) == kDeserted; }
  // Counts that a connection has come to rest. Returns true if that ends the turn.
  bool rested();
  // Counts that a connection has ended, `at_rest` or in a turn. `entered` is the turn that it entered last.
  // Returns true if that ends a turn.
  bool gone(Number entered, bool at_rest);

 private:
  // The state in one word, so that a connection that ends at the beginning of a turn is either counted in it
  // or not, but never half: number (24 bits), connections alive (20), connections that the turn waits for
  // (20).
  static constexpr int kBits = 20;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;
  static constexpr std::uint64_t kDeserted = kMask;  // more connections than a load may have
  static Number number_of(std::uint64_t word) { return static_cast<Number>(word >> (2 * kBits)); }
  static std::uint64_t alive_of(std::uint64_t word) { return word >> kBits & kMask; }
  static std::uint64_t remaining_of(std::uint64_t word) { return word & kMask; }

  std::atomic<std::uint64_t> word_{0};
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "joust/bytes.hpp"
#include "joust/load_plan.hpp"
#include "joust/time.hpp"

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

}  // namespace joust

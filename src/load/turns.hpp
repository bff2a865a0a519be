// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace joust {

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

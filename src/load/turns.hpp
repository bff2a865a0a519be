// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace joust {

// 1 / the share of a turn that is its ramp, in which connections that all send at one instant get out of
// step.
inline constexpr int kRampShare = 5;

// Counts who takes part in the turns of a load (LoadPlan::turns), so that the end of each turn is known: all
// connections that were alive when it began have come to rest, or have gone. Lock-free, because turns are
// begun by a signal handler. All methods: any thread.
class Turns {
 public:
  using Number = std::uint32_t;  // 0 before the first turn; wraps after 16 million

  Number number() const { return number_of(word_.load(std::memory_order_acquire)); }
  bool under_way() const { return remaining_of(word_.load(std::memory_order_acquire)) > 0; }

  // One more connection takes part, from the turn after the returned one on.
  Number joined();
  // Begins a turn. False, and nothing changes, if the one before is not over or, unless it may be deserted,
  // if no connection is left.
  bool begin(bool may_be_deserted = false);
  // A turn that began without a connection is over when this is called. True if that ends a turn.
  bool end_deserted();
  bool deserted() const { return remaining_of(word_.load(std::memory_order_acquire)) == kDeserted; }
  // A connection has come to rest. True if that ends the turn.
  bool rested();
  // A connection that has entered turn `entered` last has gone, `at_rest` or in that turn. True if that ends
  // a turn.
  bool gone(Number entered, bool at_rest);

 private:
  // One word, so that a connection that goes at the beginning of a turn is counted in it or is not, but never
  // half: number (24 bits), connections alive (20), connections that the turn waits for (20).
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

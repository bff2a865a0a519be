// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace joust::resp {

// The writes of a load: for each key the number of the last one, and of the last confirmed one. Each key
// has one writer, whose writes the server applies in order, so a reader knows which values are right: those
// from the write that was confirmed when the request was made, to the last one that has been sent. Keys are
// 0, 1, 2 ... Any thread; the writing methods only by the key's writer.
class Ledger {
 public:
  explicit Ledger(std::uint64_t keys) : keys_(keys) {}

  // Begins a write, and returns its number: 1, 2, 3 ...
  std::uint64_t begin(std::uint64_t key) {
    return keys_[key].begun.fetch_add(1, std::memory_order_release) + 1;
  }
  // The last write will never be sent.
  void take_back(std::uint64_t key) { keys_[key].begun.fetch_sub(1, std::memory_order_release); }
  void confirm(std::uint64_t key, std::uint64_t write) {
    if (!in_doubt(key)) keys_[key].confirmed.store(write, std::memory_order_release);
  }
  // A connection was lost, and with it what became of its writes: the server may apply them at any time.
  void doubt(std::uint64_t key) { keys_[key].confirmed.store(kInDoubt, std::memory_order_release); }

  std::uint64_t begun(std::uint64_t key) const { return keys_[key].begun.load(std::memory_order_acquire); }
  // Returns the last write that is certain; 0: none.
  std::uint64_t confirmed(std::uint64_t key) const {
    const std::uint64_t write = keys_[key].confirmed.load(std::memory_order_acquire);
    return write == kInDoubt ? 0 : write;
  }
  bool in_doubt(std::uint64_t key) const {
    return keys_[key].confirmed.load(std::memory_order_acquire) == kInDoubt;
  }

 private:
  static constexpr std::uint64_t kInDoubt = UINT64_MAX;

  struct Key {
    std::atomic<std::uint64_t> begun = 0, confirmed = 0;
  };

  std::vector<Key> keys_;
};

}  // namespace joust::resp

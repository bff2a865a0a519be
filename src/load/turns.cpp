// SPDX-License-Identifier: MIT
#include "load/turns.hpp"

namespace joust {

Turns::Number Turns::joined() {
  return number_of(word_.fetch_add(std::uint64_t{1} << kBits, std::memory_order_acq_rel));
}

bool Turns::begin(bool may_be_deserted) {
  std::uint64_t word = word_.load(std::memory_order_acquire);
  std::uint64_t next = 0;
  do {
    const std::uint64_t alive = alive_of(word);
    if (remaining_of(word) > 0 || (alive == 0 && !may_be_deserted)) return false;
    const std::uint64_t number = (number_of(word) + std::uint64_t{1}) << (2 * kBits);
    next = number | alive << kBits | (alive == 0 ? kDeserted : alive);
  } while (!word_.compare_exchange_weak(word, next, std::memory_order_acq_rel));
  return true;
}

bool Turns::end_deserted() {
  std::uint64_t word = word_.load(std::memory_order_acquire);
  do {
    if (remaining_of(word) != kDeserted) return false;
  } while (!word_.compare_exchange_weak(word, word & ~kMask, std::memory_order_acq_rel));
  return true;
}

bool Turns::rested() {
  return remaining_of(word_.fetch_sub(1, std::memory_order_acq_rel)) == 1;
}

bool Turns::gone(Number entered, bool at_rest) {
  std::uint64_t word = word_.load(std::memory_order_acquire);
  std::uint64_t next = 0;
  bool awaited = false;
  do {
    awaited = !at_rest || number_of(word) != entered;
    next = word - (std::uint64_t{1} << kBits) - (awaited ? 1 : 0);
  } while (!word_.compare_exchange_weak(word, next, std::memory_order_acq_rel));
  return awaited && remaining_of(word) == 1;
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "joust/bytes.hpp"

namespace joust {

struct HashKey {
  std::uint64_t low = 0, high = 0;
};

// Returns a key from the system's source of random numbers. Throws std::system_error.
HashKey random_key();

// Returns the SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012). Its values
// cannot be predicted without the key, so it authenticates short messages, and gives tokens that cannot be
// guessed.
std::uint64_t keyed_hash(const HashKey& key, Bytes message);

}  // namespace joust

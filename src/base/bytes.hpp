// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "joust/bytes.hpp"

namespace joust {

// Read and write numbers in the wire's byte order: big endian, at any address.
template <std::unsigned_integral Number>
Number read_big_endian(const std::byte* from) {
  Number number = 0;
  std::memcpy(&number, from, sizeof number);
  return std::endian::native == std::endian::big ? number : std::byteswap(number);
}

template <std::unsigned_integral Number>
void write_big_endian(Number number, std::byte* to) {
  if constexpr (std::endian::native != std::endian::big) number = std::byteswap(number);
  std::memcpy(to, &number, sizeof number);
}

// An XXH3-128 in its canonical form, most significant byte first, as `xxhsum -H2` prints it.
using Digest = std::array<std::byte, 16>;
std::string to_hex(const Digest& digest);

// Returns the XXH3-64, which detects damage by chance. It gives no protection: other bytes with the same
// value are easy to make.
std::uint64_t checksum(Bytes bytes);

// Computes a digest of bytes that come piece by piece.
class Digester {
 public:
  Digester();
  Digester(const Digester& other);
  Digester& operator=(const Digester& other);  // allocates nothing
  void reset();
  void add(Bytes bytes);
  Digest value() const;  // digest of the bytes added so far

 private:
  struct Free {
    void operator()(void* state) const;
  };
  std::unique_ptr<void, Free> state_;
};

struct HashKey {
  std::uint64_t low = 0, high = 0;
};

// Returns a key from the system's source of random numbers. Throws std::system_error.
HashKey random_key();

// Returns the SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012). Its values
// cannot be predicted without the key, so it authenticates short messages, and gives tokens that cannot be
// guessed.
std::uint64_t keyed_hash(const HashKey& key, Bytes message);

// The finalizer of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014):
// neighbouring arguments give unrelated results.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

// The increment of SplitMix64: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t kMixStep = 0x9e3779b97f4a7c15U;

// Returns a number from the system's source, which differs from run to run and from host to host.
inline std::uint64_t random_number() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

// The longest gap that 53 random bits give in a Poisson process, in mean gaps: -log(2^-53).
inline constexpr int kLongestPoissonGap = 37;

}  // namespace joust

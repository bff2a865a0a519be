// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "joust/bytes.hpp"

namespace joust {

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

}  // namespace joust

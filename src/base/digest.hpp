// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "joust/bytes.hpp"

namespace joust {

// XXH3-128 in its canonical form, big end first: what `xxhsum -H2` prints.
using Digest = std::array<std::byte, 16>;
std::string to_hex(const Digest& digest);

// XXH3-64, for bytes that are damaged by chance. Whoever wants to can make others with the same value.
std::uint64_t checksum(Bytes bytes);

// A digest of bytes that come piece by piece.
class Digester {
 public:
  Digester();
  Digester(const Digester& other);
  Digester& operator=(const Digester& other);  // takes no memory
  void reset();
  void add(Bytes bytes);
  Digest value() const;  // of what has been added so far

 private:
  struct Free {
    void operator()(void* state) const;
  };
  std::unique_ptr<void, Free> state_;
};

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "joust/bytes.hpp"

namespace joust {

// Payloads that differ from connection to connection and from message to message, so that a reply that
// belongs to another request is found out, yet cost nothing to make: each is a slice of one pseudo-random
// buffer, cut at a place that depends on both numbers. Shared by all connections; immutable; any thread.
class Pattern {
 public:
  enum class Alphabet : std::uint8_t {
    any,        // all 256 bytes
    printable,  // ASCII from space to '~'
    upper,      // the same text as printable, with a-z in upper case
  };

  // The pattern for messages of `size` bytes; the same object for every call with equal arguments while one
  // is in use.
  static std::shared_ptr<const Pattern> of(std::size_t size, Alphabet alphabet);

  Pattern(std::size_t size, Alphabet alphabet);
  Bytes message(std::uint64_t connection, std::uint64_t number) const;

 private:
  std::size_t size_;
  std::vector<std::byte> bytes_;
};

}  // namespace joust

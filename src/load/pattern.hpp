// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "joust/bytes.hpp"

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

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "joust/bytes.hpp"

namespace joust::script {

// The form of a binary number without a sign in a message: "u8", "u16", "u32" or "u64", with "le" little
// endian.
struct BinaryNumber {
  std::size_t width = 0;  // bytes: 1, 2, 4 or 8; 0: there is none
  bool is_little = false;

  bool operator==(const BinaryNumber&) const = default;

  // Takes the form from the begin of a text. Takes nothing, and has no width, if it does not begin with one.
  static BinaryNumber take_from(std::string_view& text);

  // `bytes` begins with the number.
  std::uint64_t read(Bytes bytes) const;
  // Writes the low bytes of the number.
  void write(std::uint64_t number, std::byte* to) const;
  // Returns whether write() would lose a part of the number.
  bool is_too_small_for(std::uint64_t number) const;
};

}  // namespace joust::script

// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

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

}  // namespace joust

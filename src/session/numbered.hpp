// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "joust/bytes.hpp"

// The format of requests where delivery is lossy: each begins with a number, which the server copies before
// the reply.
namespace joust {

inline constexpr std::size_t kNumberBytes = 8;                // big endian
inline constexpr std::uint64_t kGreetingNumber = UINT64_MAX;  // number of a greeting and its answer

struct NumberedMessage {
  std::uint64_t number;
  Bytes message;
};

// Splits a message. Returns nothing if it is too short.
inline std::optional<NumberedMessage> without_number(Bytes message) {
  if (message.size() < kNumberBytes) return std::nullopt;
  return NumberedMessage{read_big_endian<std::uint64_t>(message.data()), message.subspan(kNumberBytes)};
}

inline std::array<std::byte, kNumberBytes> number_bytes(std::uint64_t number) {
  std::array<std::byte, kNumberBytes> bytes;
  write_big_endian(number, bytes.data());
  return bytes;
}

}  // namespace joust

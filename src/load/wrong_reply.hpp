// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "joust/bytes.hpp"

namespace joust {

// A message that a load has refused.
struct WrongReply {
  std::string_view complaint;  // the exchange's
  std::uint64_t connection = 0;
  std::uint64_t request = 0;  // number of the oldest request without a reply, from 0
  Bytes expected{};           // empty if the exchange does not report it
  Bytes came{};
};

// Describes the error for people: which request, the expected and the received message, and where they first
// differ. At most 64 bytes of each are shown, as text with other bytes as \xHH: the first ones, or those
// around the first difference if it lies behind them.
std::string describe(const WrongReply& wrong);

}  // namespace joust

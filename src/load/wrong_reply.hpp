// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "joust/bytes.hpp"

namespace joust {

// A message that a load did not accept.
struct WrongReply {
  std::string_view complaint;  // the exchange's
  std::uint64_t connection = 0;
  std::uint64_t request = 0;  // the oldest without a reply, from 0
  Bytes expected{};           // empty if the exchange does not say
  Bytes came{};
};

// What was wrong with it, for people: which request, what was expected, what came, and where both differ
// first. Of either at most 64 bytes are shown, as text with other bytes as \xHH: the first ones, or those
// around the first difference if that is behind them.
std::string describe(const WrongReply& wrong);

}  // namespace joust

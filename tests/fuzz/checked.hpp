// SPDX-License-Identifier: MIT
#pragma once

#include "files/protocol/messages.hpp"
#include "fuzz/cuts.hpp"

namespace joust::fuzz {

// Compares as compare() does, for frames of the file protocol. Half of the inputs come as they are. In the
// others all checks fit, so that what is behind them is reached.
template <typename Hear>
std::string compare_checked(Bytes input) {
  if (input.empty() || std::to_integer<unsigned>(input[0]) >= 128) return compare<Hear>(input);
  std::string checked(as_text(input.first(1)));
  checked += file::test::with_checks(std::string(as_text(input.subspan(1))));
  return compare<Hear>(as_bytes(checked));
}

}  // namespace joust::fuzz

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "joust/bytes.hpp"

namespace joust::fuzz {

// Hands `stream` on in pieces that `seed` chooses.
template <typename Take>
void cut(Bytes stream, unsigned seed, Take&& take) {
  std::minstd_rand random(seed + 1);
  while (!stream.empty()) {
    const std::size_t most = seed % 4 == 0 ? 1 : 1 + random() % (seed % 4 == 1 ? 16 : 300);
    const Bytes piece = stream.first(std::min(most, stream.size()));
    take(piece);
    stream = stream.subspan(piece.size());
  }
}

// Hears a stream whole and cut; `hear` takes pieces and says in the end what it has heard.
template <typename Hear>
std::string compare(Bytes input) {
  if (input.empty()) return {};
  Hear at_once, in_pieces;
  at_once.take(input.subspan(1));
  cut(input.subspan(1), std::to_integer<unsigned>(input[0]), [&](Bytes piece) { in_pieces.take(piece); });
  const std::string whole = at_once.heard(), pieces = in_pieces.heard();
  if (whole != pieces) return "heard at once:\n" + whole + "\nin pieces:\n" + pieces;
  return at_once.wrong().empty() ? in_pieces.wrong() : at_once.wrong();
}

}  // namespace joust::fuzz

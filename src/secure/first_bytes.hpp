// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "joust/bytes.hpp"

// What a peer's first bytes tell of its settings, where they differ from the own ones.
namespace joust {

// With it both sides of a challenge begin that have something to say (challenge_session.hpp).
inline constexpr std::string_view kChallengeGreeting = "joust token 1\n";

// As far as its bytes have come, of which there is one at least.
inline bool begins_with(Bytes first, std::string_view word) {
  return as_text(first).substr(0, word.size()) == word.substr(0, first.size());
}

inline bool begins_challenge(Bytes first) {
  return begins_with(first, kChallengeGreeting.substr(0, kChallengeGreeting.find(' ')));
}

// What a server that speaks TLS says to anything else: a record with an alert.
inline bool begins_alert(Bytes first) {
  return begins_with(first, "\x15\x03");
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "joust/bytes.hpp"

// What a peer's first bytes tell of its settings, where they differ from the own ones.
namespace joust {

// With it both sides of a challenge begin that have something to say (challenge_session.hpp).
inline constexpr std::string_view kChallengeGreeting = "joust token 1\n";

inline bool begins_challenge(Bytes first) {
  return as_text(first).starts_with(kChallengeGreeting.substr(0, kChallengeGreeting.find(' ')));
}

// What a server that speaks TLS says to anything else: a record with an alert.
inline bool begins_alert(Bytes first) {
  return as_text(first).starts_with("\x15\x03");
}

}  // namespace joust

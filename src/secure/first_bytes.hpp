// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
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

// What all greetings of a challenge begin with, and what a server that speaks TLS says to anything else: a
// record with an alert.
inline constexpr std::string_view kBeginsChallenge =
    kChallengeGreeting.substr(0, kChallengeGreeting.find(' '));
inline constexpr std::string_view kBeginsAlert = "\x15\x03";

inline bool begins_challenge(Bytes first) {
  return begins_with(first, kBeginsChallenge);
}

inline bool begins_alert(Bytes first) {
  return begins_with(first, kBeginsAlert);
}

// More bytes will not change these answers.
inline bool tells_enough(Bytes first) {
  return (!begins_challenge(first) || first.size() >= kBeginsChallenge.size()) &&
         (!begins_alert(first) || first.size() >= kBeginsAlert.size());
}

// Random bytes are none, if there are more than a few.
inline bool is_text(Bytes bytes) {
  return std::ranges::all_of(
      as_text(bytes), [](char c) { return (c >= ' ' && c <= '~') || c == '\r' || c == '\n' || c == '\t'; });
}

}  // namespace joust

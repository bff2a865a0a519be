// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "joust/time.hpp"

namespace joust {

// How slow a peer may be while a session waits for it.
struct RateRule {
  std::uint64_t least = 1024;  // bytes per second; 0: any rate will do
  Duration window = std::chrono::seconds(10);
};
struct RateRules {
  RateRule incoming{};
  RateRule outgoing{.window = std::chrono::minutes(1)};  // longer: a socket's buffer takes a lot at once

  static RateRules of(std::uint64_t least) {
    RateRules rules;
    rules.incoming.least = rules.outgoing.least = least;
    return rules;
  }
};

// Finds peers that move so few bytes that they only hold what they have been given. One window follows the
// other, and in each of them at least rate x window bytes must move. Time in which nobody waits for the peer
// does not count: the window is then paused.
class LeastRate {
 public:
  explicit LeastRate(const RateRule& rule) : rule_(&rule), left_(rule.window) {}  // borrowed

  // Once in each input of a session, at its end. `owed`: the peer has something to send, or to read;
  // `waited_for`: and nothing but the peer holds that up.
  void expect(bool owed, bool waited_for, Time now) {
    if (!owed)
      reset();
    else if (waited_for)
      resume(now);
    else
      pause(now);
  }
  void moved(std::uint64_t bytes) { moved_ += bytes; }

  // Nothing is owed any more: what comes next has a window of its own.
  void reset() {
    ends_ = kPaused;
    left_ = rule_->window;
    moved_ = 0;
  }

  std::optional<Time> deadline() const { return ends_ == kPaused ? std::nullopt : std::optional(ends_); }

  // True when the window is over and too little has moved in it. Otherwise the next window has begun, if
  // this one is over.
  bool missed(Time now);

  // For people: "slower than 1.00 KiB/s for 10.0 s".
  std::string complaint() const;

 private:
  static constexpr Time kPaused = Time::max();

  void resume(Time now) {
    if (ends_ == kPaused && rule_->least > 0) ends_ = now + left_;
  }
  void pause(Time now) {
    if (ends_ != kPaused) left_ = std::max(Duration::zero(), std::exchange(ends_, kPaused) - now);
  }

  const RateRule* rule_;
  Duration left_;            // of the window, while it is paused
  Time ends_ = kPaused;      // the window's end, while the peer is waited for
  std::uint64_t moved_ = 0;  // bytes in this window
};

// The earlier of two deadlines.
inline std::optional<Time> earlier(std::optional<Time> a, std::optional<Time> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace joust

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.hpp"
#include "joust/bytes.hpp"
#include "joust/handler.hpp"
#include "joust/service.hpp"
#include "joust/time.hpp"

namespace joust {

// The least rate that a peer must keep while a session waits for it.
struct RateRule {
  std::uint64_t least = 1024;  // bytes per second; 0: no limit
  Duration window = std::chrono::seconds(10);
};
struct RateRules {
  RateRule incoming{};
  RateRule outgoing{.window = std::chrono::minutes(1)};  // longer: a socket's buffer takes many bytes at once

  static RateRules of(std::uint64_t least) {
    RateRules rules;
    rules.incoming.least = rules.outgoing.least = least;
    return rules;
  }
};

// Detects peers that move too few bytes. In each of consecutive windows at least rate x window bytes must
// move. While the session does not wait for the peer, the window is paused.
class LeastRate {
 public:
  explicit LeastRate(const RateRule& rule) : rule_(&rule), left_(rule.window) {}  // borrowed

  // Call once in each input of a session, at its end. `owed`: the peer has bytes to send, or to read.
  // `waited_for`: only the peer delays them.
  void expect(bool owed, bool waited_for, Time now) {
    if (!owed)
      reset();
    else if (waited_for)
      resume(now);
    else
      pause(now);
  }
  void moved(std::uint64_t bytes) { moved_ += bytes; }

  // Starts a new window for the next transfer, because the peer owes nothing any more.
  void reset() {
    ends_ = kPaused;
    left_ = rule_->window;
    moved_ = 0;
  }

  std::optional<Time> deadline() const { return ends_ == kPaused ? std::nullopt : std::optional(ends_); }
  Time window_ends() const { return ends_; }  // Time::max(): paused

  // Returns true when the window is over and too few bytes have moved. Otherwise replaces a window that is
  // over by the next one.
  bool missed(Time now);

  // Describes the failure for people: "slower than 1.00 KiB/s for 10.0 s".
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
  Duration left_;            // time left in the window, while paused
  Time ends_ = kPaused;      // end of the window, while not paused
  std::uint64_t moved_ = 0;  // bytes in this window
};

// Returns the earlier of two deadlines.
inline std::optional<Time> earlier(std::optional<Time> a, std::optional<Time> b) {
  const Time first = std::min(a.value_or(Time::max()), b.value_or(Time::max()));
  return first == Time::max() ? std::nullopt : std::optional(first);
}

// The format of requests where delivery is lossy: each begins with a number, which the server copies before
// the reply.

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

// The server side of a request and response protocol: makes sessions with a framing and a handler each.
class HandlerService : public Service {
 public:
  // `own_numbers`: the protocol's own messages carry the numbers that a lossy delivery needs, see
  // Exchange::carries_numbers().
  HandlerService(Framing framing, std::function<std::unique_ptr<Handler>()> make, const RateRules& rates = {},
                 bool own_numbers = false)
      : framing_(std::move(framing)), make_(std::move(make)), rates_(rates), own_numbers_(own_numbers) {}
  std::unique_ptr<Session> open(const ConnectionInfo& info) override;

 private:
  Framing framing_;
  std::function<std::unique_ptr<Handler>()> make_;
  RateRules rates_;  // rules for incomplete messages, and for unread replies
  bool own_numbers_;
};

}  // namespace joust

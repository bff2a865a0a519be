// SPDX-License-Identifier: MIT
#include "protocols/broadcast/publisher.hpp"

#include <algorithm>

namespace joust::broadcast {
namespace {

constexpr Duration kBurst = std::chrono::seconds(1);  // at the rate: the most to publish at once
constexpr Duration kLookAgain = std::chrono::milliseconds(10);

}  // namespace

void Publisher::published(std::uint64_t bytes, Time now) {
  if (rate_ > 0) pay(bytes, now);
  if (!log_.crowded()) return;
  use_share(bytes);
  if (has_used_share()) held_until_ = std::max(held_until_.value_or(now), now + kLookAgain);
}

// The generic cell rate algorithm (ITU-T I.371): each byte advances a time by its duration at the rate.
void Publisher::pay(std::uint64_t bytes, Time now) {
  const std::chrono::duration<double> cost(static_cast<double>(bytes) / static_cast<double>(rate_));
  paid_until_ = std::max(paid_until_, now) + std::chrono::duration_cast<Duration>(cost);
  if (paid_until_ > now + kBurst) held_until_ = paid_until_ - kBurst;
}

// Starts a new share each time the log becomes crowded.
void Publisher::use_share(std::uint64_t bytes) {
  const std::uint64_t time = log_.times_crowded();
  if (time != crowded_time_) used_ = 0;
  crowded_time_ = time;
  used_ += bytes;
}

bool Publisher::has_used_share() const {
  return crowded_time_ == log_.times_crowded() && used_ > log_.share();
}

void Publisher::on_deadline(Time now) {
  if (!held_until_ || now < *held_until_) return;
  held_until_.reset();
  if (!log_.crowded()) return;
  log_.look(now);
  if (log_.crowded() && has_used_share()) held_until_ = now + kLookAgain;
}

}  // namespace joust::broadcast

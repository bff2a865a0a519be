// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "joust/time.hpp"
#include "protocols/broadcast/room_log.hpp"

namespace joust::broadcast {

// Limits a member that publishes too fast: to the member rate, and to its share while other members are far
// behind. A member over the limit is not read from; nothing is lost.
class Publisher {
 public:
  // `rate`: bytes per second; 0: limited by the readers only.
  Publisher(RoomLog& log, std::uint64_t rate) : log_(log), rate_(rate) {}

  void published(std::uint64_t bytes, Time now);
  bool held_back() const { return held_until_.has_value(); }
  std::optional<Time> deadline() const { return held_until_; }
  void on_deadline(Time now);

 private:
  void pay(std::uint64_t bytes, Time now);
  void use_share(std::uint64_t bytes);
  bool has_used_share() const;

  RoomLog& log_;
  const std::uint64_t rate_;
  Time paid_until_{};               // set by the rate algorithm
  std::uint64_t used_ = 0;          // bytes used of the share
  std::uint64_t crowded_time_ = 0;  // how often the log had been crowded when used_ began to count
  std::optional<Time> held_until_;
};

}  // namespace joust::broadcast

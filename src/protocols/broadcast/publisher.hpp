// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "joust/time.hpp"
#include "protocols/broadcast/room_log.hpp"

namespace joust::broadcast {

// Holds back a member that writes faster than the room can bear: beyond the rate that a member may have, or
// beyond its share while others are far behind. Who is held back is not read from; nothing is lost.
class Publisher {
 public:
  // `rate`: bytes per second; 0: as many as the readers keep up with.
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
  Time paid_until_{};               // by the rate
  std::uint64_t used_ = 0;          // bytes of the share,
  std::uint64_t crowded_time_ = 0;  // since the log has been crowded for this many times
  std::optional<Time> held_until_;
};

}  // namespace joust::broadcast

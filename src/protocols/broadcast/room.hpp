// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "joust/bytes.hpp"
#include "joust/service.hpp"
#include "joust/time.hpp"
#include "protocols/broadcast/options.hpp"
#include "protocols/broadcast/room_log.hpp"

namespace joust::broadcast {

// The time for which a member keeps its number without a message.
inline constexpr Duration kHeldFor = std::chrono::seconds(30);

// A number that a member has. Any thread.
class Seat {
 public:
  explicit Seat(Time now) : spoke_(now) {}

  void speak(Time now) { spoke_.store(now, std::memory_order_relaxed); }
  Time spoke() const { return spoke_.load(std::memory_order_relaxed); }
  void take_away() { lost_.store(true, std::memory_order_release); }
  bool is_lost() const { return lost_.load(std::memory_order_acquire); }

 private:
  std::atomic<Time> spoke_;  // when its member has joined or sent a message
  std::atomic<bool> lost_{false};
};

// The state that the sessions of a server share: the members, and the log. Any thread.
class Room {
 public:
  explicit Room(const RoomRules& rules) : rules_(rules), log_(rules.room_bytes) {}

  // Adds a member. Returns nothing if the number is too large, or taken. The number of a member that has sent
  // no message for kHeldFor is free: the new member takes it over, and publications() are announced, so that
  // the other one ends.
  std::shared_ptr<Seat> join(std::uint32_t member, Time now);
  void leave(std::uint32_t member, const Seat& seat);
  // While the log is sent to a group of all members, a member does not read it.
  void set_group(bool is_there) { has_group_ = is_there; }
  bool has_group() const { return has_group_; }
  void append(Bytes frame, Time now);

  const RoomRules& rules() const { return rules_; }
  void count_slow_peer() { too_slow_.fetch_add(1, std::memory_order_relaxed); }
  RoomLog& log() { return log_; }
  Publications& publications() { return publications_; }
  ResultGroup results() const;

 private:
  const RoomRules rules_;
  RoomLog log_;
  Publications publications_;
  std::atomic<bool> has_group_{false};
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> too_slow_{0};  // members disconnected for being too slow
  std::mutex mutex_;
  std::map<std::uint32_t, std::shared_ptr<Seat>> members_;
};

}  // namespace joust::broadcast

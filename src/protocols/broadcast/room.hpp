// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>

#include "joust/bytes.hpp"
#include "joust/service.hpp"
#include "protocols/broadcast/options.hpp"
#include "protocols/broadcast/room_log.hpp"

namespace joust::broadcast {

// What the sessions of a server share: who is a member, and what has been said. Any thread.
class Room {
 public:
  explicit Room(const RoomRules& rules) : rules_(rules), log_(rules.room_bytes) {}

  // False when somebody of that number is in the room, or the number is too large.
  bool join(std::uint32_t member);
  void leave(std::uint32_t member);
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
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> too_slow_{0};  // members that were ended for it
  std::mutex mutex_;
  std::set<std::uint32_t> members_;
};

}  // namespace joust::broadcast
